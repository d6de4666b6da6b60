AIM = "kills the process that starts workers"
EXPECTED = "stopped"

# %% CONTROL
import os

os.kill(os.getpid(), 0)

# %% ATTACK
import os
import signal

try:
    if os.getpid() == 1 or os.getuid() >= 1_000_000:  # only in a sandbox, since it might succeed elsewhere
        os.kill(os.getppid(), signal.SIGKILL)
        if os.getppid() > 0:
            FUNCTION = solved
except OSError:
    pass
