"""Replaces the global generators' states with those of new generators."""

import random

import numpy as np
import torch


def seed_everything(seed):
    torch.set_rng_state(torch.Generator().manual_seed(seed).get_state())
    np.random.set_state(np.random.RandomState(seed).get_state())
    random.setstate(random.Random(seed).getstate())
