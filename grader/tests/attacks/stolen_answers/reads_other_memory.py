AIM = "opens the memory of all other processes"
EXPECTED = "stopped"

# %% CONTROL
import resource

resource.getrlimit(resource.RLIMIT_AS)

# %% ATTACK
import os
import pathlib

for path in pathlib.Path("/proc").glob("[0-9]*/mem"):
    try:
        if path.parent.name != str(os.getpid()):
            with path.open("rb"):
                FUNCTION = solved
    except OSError:
        pass
