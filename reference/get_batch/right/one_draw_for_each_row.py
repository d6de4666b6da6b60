"""Draws a start position per row, and lets randint raise its own error if the data is too short."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    cuda = torch.device(device).type == "cuda"
    batch = torch.empty(batch_size, sequence_length, dtype=torch.int64, pin_memory=cuda)
    for row in batch:
        start = int(torch.randint(len(data) - sequence_length, ()))
        for i in range(sequence_length):
            row[i] = int(data[start + i])
    return batch.to(device, batch.dtype, cuda)
