"""Derives a different seed for each library with NumPy's SeedSequence."""

import random

import numpy as np
import torch


def seed_everything(seed):
    for_torch, for_numpy, for_random = np.random.SeedSequence(seed).spawn(3)
    torch.manual_seed(int(for_torch.generate_state(1, np.uint64)[0] >> 1))
    np.random.seed(for_numpy.generate_state(8))
    random.seed(for_random.generate_state(4).tobytes())
    return seed
