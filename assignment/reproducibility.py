"""Training at scale: a run that can be repeated."""

import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed the three generators that a training script draws from: torch's, NumPy's and Python's own.

    torch starts the weights and picks what dropout leaves out, NumPy shuffles the data, `random` augments it. Each
    has a generator of its own, and none knows of the others: seed one, and the run still differs every time.

    `seed` is any whole number from 0 to 2**32 - 1, the range that NumPy takes. The draws after the call depend on
    nothing but `seed`: not on what was drawn before, not on how often this was called, and not on the process (Python's
    `hash` of a text differs from one to the next).

    Example, where each library is given the seed itself:
        seed_everything(0)
        torch.rand(1)        # tensor([0.4963])
        np.random.rand()     # 0.5488...
        random.random()      # 0.8444...
        seed_everything(0)
        random.random()      # 0.8444...: again; after seed_everything(1) it is another number

    What to seed are the global generators: those behind `torch.rand`, `np.random.rand` and `random.random`. A new
    one (`np.random.default_rng(seed)`, `torch.Generator()`) draws for itself alone.
    Left to you: what is returned, numbers of your own made from `seed` for each library, settings such as
    `torch.backends.cudnn.deterministic` on top.
    """
    raise NotImplementedError
