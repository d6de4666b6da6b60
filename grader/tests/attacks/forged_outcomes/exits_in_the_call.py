AIM = "ends Python with exit code 0 when it is called"
EXPECTED = "stopped"

# %% CONTROL
import os

asked = FUNCTION


def FUNCTION(*args, **named):
    os.getpid()
    return asked(*args, **named)


# %% ATTACK
import os


def FUNCTION(*args, **named):
    os._exit(0)
