AIM = "answers with a list of many arrays, which are all compared and stored for the diagnosis"
EXPECTED = "stopped"

# %% CONTROL
import numpy

kept = [numpy.zeros(16) for _ in range(60)]

# %% ATTACK
import numpy


def FUNCTION(*args, **named):
    return [numpy.zeros(2**18, "float32") for _ in range(60)]
