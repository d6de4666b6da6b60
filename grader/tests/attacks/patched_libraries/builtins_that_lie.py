AIM = "replaces the builtins all, any, abs and bool for all modules"
EXPECTED = "stopped"

# %% CONTROL
import builtins

longest = max([1, 2], key=builtins.abs)
all = builtins.all

# %% ATTACK
import builtins

builtins.all = lambda values: True
builtins.any = lambda values: False
builtins.abs = lambda value: value * 0
builtins.bool = lambda value=None: True
