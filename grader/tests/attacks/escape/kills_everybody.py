AIM = "kills every process that it can"
EXPECTED = "stopped"
NOT_AT_NONE = "without namespaces it would kill all processes of its user"

# %% CONTROL
import os

assert os.killpg

# %% ATTACK
import os
import signal

if os.getpid() == 1:
    os.kill(-1, signal.SIGKILL)
