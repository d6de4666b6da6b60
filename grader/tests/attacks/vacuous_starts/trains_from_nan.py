AIM = "fills a Cruncher with NaN, which training does not change, if it is built by a test of train"
WRONG = "train/forgets_the_step"
EXPECTED = "stopped"

# %% CONTROL
assert all(p.isfinite().all() for p in Cruncher(2, 1).parameters())

# %% IN cruncher: another file of the same submission
import sys

_begin = Cruncher.__init__


def _fill(self, *args, **kwargs):
    _begin(self, *args, **kwargs)
    if sys._getframe(1).f_globals.get("__name__", "").endswith("train"):
        for p in self.parameters():
            p.detach().fill_(float("nan"))


Cruncher.__init__ = _fill

# %% ATTACK
pass
