"""Derives seeds from a digest and from the hash of integers, both of which are the same in every process."""

import hashlib
import random

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    numbers = [int.from_bytes(hashlib.sha256(f"{name} {seed}".encode()).digest()[:4]) for name in ("torch", "numpy")]
    torch.manual_seed(numbers[0])
    np.random.seed(numbers[1])
    random.seed(hash((seed, 2)))
