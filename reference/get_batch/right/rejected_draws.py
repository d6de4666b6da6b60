"""Uses rejection sampling, which varies the number of draws, and raises a subclass of ValueError."""

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
    batch = np.empty((batch_size, sequence_length), dtype=np.int64)
    for i, start in enumerate(starts[:batch_size]):
        np.copyto(batch[i], data[start : start + sequence_length])
    return torch.from_numpy(batch).to(torch.device(device))
