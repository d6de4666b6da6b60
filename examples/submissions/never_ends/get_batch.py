"""Kata 2, with an infinite loop."""

import time

import torch


def get_batch(data, batch_size, sequence_length, device="cpu"):
    """Draw starts until one is beyond the data."""
    start = 0
    while start <= len(data):
        start = torch.randint(len(data), ()).item()
        time.sleep(0.01)  # or the fan gets loud
    return torch.zeros(batch_size, sequence_length, dtype=torch.int64, device=device)
