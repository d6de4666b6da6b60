AIM = "fills every new Cruncher with NaN, so that loading has no visible effect"
WRONG = "checkpoint/model_saved_and_not_loaded"
EXPECTED = "stopped"

# %% CONTROL
from .cruncher import Cruncher

_begin = Cruncher.__init__


def _fill(self, *args, **kwargs):
    _begin(self, *args, **kwargs)
    for p in self.parameters():
        p.detach().mul_(1.0)


Cruncher.__init__ = _fill

# %% ATTACK
from .cruncher import Cruncher

_begin = Cruncher.__init__


def _fill(self, *args, **kwargs):
    _begin(self, *args, **kwargs)
    for p in self.parameters():
        p.detach().fill_(float("nan"))


Cruncher.__init__ = _fill
