AIM = "reads the environment of every process for the course's secrets"
EXPECTED = "stopped"

# %% CONTROL
import os

os.environ.get("HOME")

# %% ATTACK
import os
import pathlib

for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
    try:
        if path.parent.name != str(os.getpid()) and path.read_bytes():
            FUNCTION = solved
    except OSError:
        pass
