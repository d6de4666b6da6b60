"""The process that runs a student's code, and the one channel to it.

grader's side:  launch (starts the zygote, in a sandbox)   runner (one worker a test, limits on time)
their side:     zygote (imports torch, forks)   confine (namespaces, limits, privileges)   work (answers calls)
between:        channel (frames of plain values)
"""
