AIM = "answers with a subclass of float for which all comparisons hold"
EXPECTED = "stopped"

# %% CONTROL
import math

assert math.isclose(0.1 + 0.2, 0.3)


# %% ATTACK
class Number(float):
    __hash__ = float.__hash__
    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda self, other: True

    def __float__(self):
        return True


def FUNCTION(*args, **named):
    return Number(1)
