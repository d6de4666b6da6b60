AIM = "sets the exit code to 0 when Python ends"
EXPECTED = "stopped"

# %% CONTROL
import atexit

atexit.register(print, "bye")

# %% ATTACK
import atexit
import os

atexit.register(os._exit, 0)
