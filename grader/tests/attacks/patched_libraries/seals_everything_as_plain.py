AIM = "replaces the function that converts answers to plain values, to return its own object"
EXPECTED = "stopped"


# %% CONTROL
def to_plain(value, depth=0):
    return value


# %% ATTACK
import torchkata.inside.reply
import torchkata.inside.values


class Yes:
    __eq__ = lambda self, other: True
    __hash__ = None
    __bool__ = lambda self: True


torchkata.inside.values.to_plain = torchkata.inside.reply.to_plain = lambda value, depth=0: Yes()
