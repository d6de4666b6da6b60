AIM = "never returns from a regular expression, which blocks signal handling"
EXPECTED = "stopped"

# %% CONTROL
import re

assert re.match("a+$", "a" * 64)

# %% ATTACK
import re


def FUNCTION(*args, **named):
    return re.match("(a+)+$", "a" * 64 + "b")
