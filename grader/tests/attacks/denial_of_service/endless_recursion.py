AIM = "recurses endlessly after raising the recursion limit"
EXPECTED = "stopped"

# %% CONTROL
import sys

sys.setrecursionlimit(2000)

# %% ATTACK
import sys

sys.setrecursionlimit(10**9)


def FUNCTION(*args, **named):
    return FUNCTION(*args, **named)
