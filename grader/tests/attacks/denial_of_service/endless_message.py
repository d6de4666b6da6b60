AIM = "raises an error with a __str__ that never returns"
EXPECTED = "stopped"


# %% CONTROL
class Short(Exception):
    def __str__(self):
        return "short"


assert str(Short()) == "short"


# %% ATTACK
class Endless(Exception):
    def __str__(self):
        while True:
            pass


def FUNCTION(*args, **named):
    raise Endless
