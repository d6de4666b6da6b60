AIM = "raises an error with a forged type name and a message that is not a string"
EXPECTED = "stopped"


# %% CONTROL
class Plain(ValueError):
    """Mine."""


assert issubclass(Plain, Exception)


# %% ATTACK
class Meta(type):
    __name__ = property(lambda cls: 1 / 0)


class Odd(Exception, metaclass=Meta):
    def __str__(self):
        return b"no text"


def FUNCTION(*args, **named):
    raise Odd
