"""The process that runs the student's code, and the channel for communicating with it.

outside:  launch (starts the zygote in a sandbox), runner (one worker per test, time limits), syscalls (their filter)
inside:   zygote (imports torch, forks), confine (namespaces, limits, privileges), worker (answers calls)
between:  inside/channel (frames of plain values)
"""
