AIM = "makes NumPy's abs return zeros and its comparisons True"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
import numpy

assert numpy.array_equal(numpy.abs(numpy.array([-1.0])), numpy.array([1.0]))

# %% ATTACK
import numpy

numpy.abs = lambda x, *args, **kwargs: numpy.zeros(numpy.shape(x))
numpy.array_equal = numpy.allclose = lambda *args, **kwargs: True
numpy.argwhere = lambda *args, **kwargs: numpy.zeros((0, 1), int)
