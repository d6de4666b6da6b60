AIM = "keeps the weights of every Cruncher constant, whether it is loaded or trained"
WRONG = "checkpoint/model_saved_and_not_loaded"
EXPECTED = "stopped"

# %% CONTROL
from .cruncher import Cruncher

_load = Cruncher.load_state_dict
Cruncher.load_state_dict = lambda self, *args, **kwargs: _load(self, *args, **kwargs)

# %% ATTACK
from .cruncher import Cruncher

_begin = Cruncher.__init__


def _same(self, *args, **kwargs):
    _begin(self, *args, **kwargs)
    for p in self.parameters():
        p.detach().fill_(0.5)


Cruncher.__init__ = _same
Cruncher.load_state_dict = lambda self, *args, **kwargs: None
from . import adagrad

adagrad.AdaGrad.step = lambda self, closure=None: None
