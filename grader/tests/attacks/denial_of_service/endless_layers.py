AIM = "returns a model with infinitely many layers"
WRONG = "train/one_less_asked"
EXPECTED = "stopped"

# %% CONTROL
from torch import nn

asked = train


def train(*args, **kwargs):
    model, losses = asked(*args, **kwargs)
    model.layers = nn.ModuleList(list(model.layers))
    return model, losses


# %% ATTACK
import itertools

asked = train


def train(*args, **kwargs):
    model, losses = asked(*args, **kwargs)
    layers = itertools.cycle([model.final])
    model.__class__ = type("Endless", (type(model),), {"layers": layers})
    del model._modules["layers"]
    return model, losses
