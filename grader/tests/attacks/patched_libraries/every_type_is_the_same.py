AIM = "makes isinstance return True for everything"
EXPECTED = "stopped"

# %% CONTROL
import builtins

assert builtins.isinstance(1, int)

# %% ATTACK
import builtins

real = builtins.isinstance
builtins.isinstance = lambda value, kind: True
