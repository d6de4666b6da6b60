"""Seeds each library with a number drawn from the previous one."""

import random

import numpy as np
import torch


def seed_everything(seed):
    random.seed(f"run {seed}")
    np.random.seed([random.getrandbits(32) for _ in range(4)])
    torch.random.manual_seed(np.random.randint(2**62))
