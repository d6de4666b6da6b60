AIM = "ends Python with exit code 0 before the first call"
EXPECTED = "stopped"

# %% CONTROL
import os

os.getpid()

# %% ATTACK
import os

os._exit(0)
