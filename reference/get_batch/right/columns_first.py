"""Fills a non-contiguous result column by column on the device."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    if not len(data) > sequence_length:
        raise ValueError("no window")
    starts = torch.randint(high=len(data) - sequence_length, size=[batch_size]).numpy()
    cuda = torch.device(device).type == "cuda"
    columns = torch.empty(sequence_length, batch_size, dtype=torch.int64, device=device)
    for i in range(sequence_length):
        column = torch.from_numpy(np.take(data, starts + i).astype(np.int64))
        columns[i].copy_(column.pin_memory() if cuda else column, non_blocking=cuda)
    return columns.T
