"""Reproducible training: seed every random generator."""

import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed the global random generators of torch, NumPy and Python's `random`.

    A training script may draw random numbers from all three: torch for initial weights and dropout, NumPy for
    shuffling, `random` for data augmentation. Each has its own generator, so a run is reproducible only if all three
    are seeded.

    Example, if each library gets the seed unchanged:
        seed_everything(0)
        torch.rand(1)        # tensor([0.4963])
        np.random.rand()     # 0.5488...
        random.random()      # 0.8444...
        seed_everything(0)
        random.random()      # 0.8444...: the same number again; seed_everything(1) would give a different one

    Details:
    - `seed` is an integer from 0 to 2**32 - 1, the range that NumPy accepts.
    - The numbers drawn after the call depend only on `seed`: not on earlier draws or calls, and not on the process.
      (Python's `hash` of a string differs between processes.)
    - Different seeds give different numbers in each library.
    - Seed the generators behind `torch.rand`, `np.random.rand` and `random.random`. A new generator
      (`np.random.default_rng(seed)`, `torch.Generator()`) does not affect them.

    Not specified (any choice is fine): the return value; whether each library is seeded with a different number,
    derived from `seed`; additional settings such as `torch.backends.cudnn.deterministic`.
    """
    raise NotImplementedError
