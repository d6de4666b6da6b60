"""Derives a different seed for each library, with NumPy's SeedSequence and the hash of integers."""

import random

import numpy as np
import torch


def seed_everything(seed):
    for_torch, for_numpy = np.random.SeedSequence(seed).spawn(2)
    torch.manual_seed(int(for_torch.generate_state(1, np.uint64)[0] >> 1))
    np.random.seed(for_numpy.generate_state(8))
    random.seed(hash((seed, 2)))
    return seed
