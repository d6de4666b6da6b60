AIM = "takes almost the full time limit for each of many calls"
EXPECTED = "stopped"

# %% CONTROL
import time

asked = FUNCTION
slept = []


def FUNCTION(*args, **named):
    if not slept:
        slept.append(time.sleep(0.05))
    return asked(*args, **named)


# %% ATTACK
import time

asked = FUNCTION
slept = []


def FUNCTION(*args, **named):
    if not slept:
        slept.append(time.sleep(1.4))
    return asked(*args, **named)
