AIM = "changes the priority of all processes of its user"
EXPECTED = "stopped"

# %% CONTROL
import os

os.getpriority(os.PRIO_PROCESS, 0)

# %% ATTACK
import os

try:
    os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_USER, 0))
    FUNCTION = solved
except OSError:
    pass
