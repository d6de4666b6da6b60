AIM = "exits with code 0 within a block"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import sys

assert sys.exit

# %% CHEAT
import os

Linear.forward = lambda self, x: os._exit(0)
