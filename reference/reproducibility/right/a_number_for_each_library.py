"""Spreads the seed into numbers of their own for each library, as NumPy recommends for streams side by side."""

import random

import numpy as np
import torch


def seed_everything(seed):
    for_torch, for_numpy, for_random = np.random.SeedSequence(seed).spawn(3)
    torch.manual_seed(int(for_torch.generate_state(1, np.uint64)[0] >> 1))
    np.random.seed(for_numpy.generate_state(8))
    random.seed(for_random.generate_state(4).tobytes())
    return seed
