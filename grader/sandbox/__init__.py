"""The process that runs the student's code, and the channel for communicating with it.

outside:  launch (starts the zygote in a sandbox), mounts (what it sees), syscalls (which calls its workers may make),
          runner (one worker per test, time limits)
inside:   zygote (imports torch, forks), confine (namespaces, limits, privileges), worker (answers calls)
between:  inside/channel (frames), inside/encoding (plain values as bytes)
"""
