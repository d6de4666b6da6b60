AIM = "returns a NumPy array of objects that equal everything"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
import numpy

assert numpy.full(2, 1.0).sum() == 2

# %% ATTACK
import numpy


class Yes:
    __hash__ = None

    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__


Linear.forward = lambda self, x: numpy.full((*x.shape[:-1], self.weight.shape[1]), Yes(), dtype=object)
