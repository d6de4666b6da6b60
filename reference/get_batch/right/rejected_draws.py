"""Uses rejection sampling, so that the number of draws varies, and raises a subclass of ValueError."""

import numpy as np
import torch
from torch import Tensor


class NoWindow(ValueError):
    pass


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    count = len(data) - sequence_length
    if count <= 0:
        raise NoWindow
    starts: list[int] = []
    while len(starts) < batch_size:
        draws = torch.empty(batch_size, dtype=torch.int64).random_(2 ** (count - 1).bit_length())
        starts += [start for start in draws.tolist() if start < count]
    cuda = torch.device(device).type == "cuda"
    batch = torch.empty((batch_size, sequence_length), dtype=torch.int64, pin_memory=cuda)
    for row, start in zip(batch.numpy(), starts, strict=False):
        np.copyto(row, data[start : start + sequence_length])
    return torch.as_tensor(batch).to(torch.device(device), non_blocking=cuda)
