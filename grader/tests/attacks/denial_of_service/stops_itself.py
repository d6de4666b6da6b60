AIM = "stops its process, so that it neither answers nor ends"
EXPECTED = "stopped"

# %% CONTROL
import os
import signal

os.kill(os.getpid(), signal.SIGCONT)

# %% ATTACK
import os
import signal


def FUNCTION(*args, **named):
    os.kill(os.getpid(), signal.SIGSTOP)
