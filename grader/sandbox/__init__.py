"""The process that runs the student's code, and the channel for communicating with it.

grader's side:   launch (starts the zygote in a sandbox), runner (one worker per test, time limits)
sandboxed side:  zygote (imports torch, forks), confine (namespaces, limits, privileges), worker (answers calls)
between them:    channel (frames of plain values)
"""
