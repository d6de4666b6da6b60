AIM = "answers with 15 million numbers, which would each become a Python object for display"
EXPECTED = "stopped"

# %% CONTROL
import numpy

assert numpy.arange(2**20).size == 2**20

# %% ATTACK
import numpy

KEPT = numpy.arange(15 * 2**20, dtype="float32")


def FUNCTION(*args, **named):
    return KEPT
