AIM = "answers with four million small numbers and 22 additional axes, which would take gigabytes as nested lists"
EXPECTED = "stopped"

# %% CONTROL
import numpy

assert numpy.zeros((2, 1, 1, 1)).ndim == 4

# %% ATTACK
import numpy


def FUNCTION(*args, **named):
    return numpy.zeros((2**22, *[1] * 22), "uint8")
