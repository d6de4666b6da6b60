"""Reference solution for reproducibility."""

import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed torch on every device, NumPy and Python's random module."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
