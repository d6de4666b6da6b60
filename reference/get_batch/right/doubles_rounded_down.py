"""Computes start positions by scaling and rounding down uniform float64 numbers."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    count = len(data) - sequence_length
    if count < 1:
        raise ValueError("no window")
    starts = (torch.rand(batch_size, dtype=torch.float64) * count).floor().to(torch.int64).tolist()
    tokens = [[int(token) for token in data[start : start + sequence_length]] for start in starts]
    cuda = str(device).startswith("cuda")
    return torch.tensor(tokens, dtype=torch.int64, pin_memory=cuda).to(device, non_blocking=cuda)
