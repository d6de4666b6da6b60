AIM = "searches all calling frames for the expected answers"
EXPECTED = "stopped"

# %% CONTROL
import sys

asked = FUNCTION


def FUNCTION(*args, **named):
    assert sys._getframe().f_code.co_name == "FUNCTION"
    return asked(*args, **named)


# %% ATTACK
import sys

WORDS = ("expected", "wanted", "exact", "solution", "oracle", "reference")


def FUNCTION(*args, **named):
    frame = sys._getframe()
    while frame is not None:
        for name in WORDS:
            found = frame.f_locals.get(name, frame.f_globals.get(name))
            function = getattr(found, "FUNCTION", found)
            if callable(function) and function is not FUNCTION:
                return function(*args, **named)
        frame = frame.f_back
    return None
