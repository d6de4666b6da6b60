AIM = "raises its own limits on memory, processes and files, and its priority"
EXPECTED = "stopped"

# %% CONTROL
import os

os.nice(0)

# %% ATTACK
import os
import resource

for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
    soft, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY:
        continue
    try:
        resource.setrlimit(kind, (hard + 2**20, hard + 2**20))
        FUNCTION = solved
    except (OSError, ValueError):
        pass
try:
    os.setpriority(os.PRIO_PROCESS, 0, -5)
    FUNCTION = solved
except OSError:
    pass
