AIM = "prints a gigabyte"
EXPECTED = "stopped"

# %% CONTROL
asked = FUNCTION


def FUNCTION(*args, **named):
    print("x" * 1000)
    return asked(*args, **named)


# %% ATTACK
import sys


def FUNCTION(*args, **named):
    for _ in range(1000):
        sys.stdout.write("x" * 10**6)
