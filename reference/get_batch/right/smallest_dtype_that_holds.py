"""Extracts windows with `as_strided`, and returns an int32 tensor for uint16 data."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    count = len(data) - sequence_length
    starts = torch.randint(0, count, (batch_size,)).numpy()
    step = data.strides[0]
    windows = np.lib.stride_tricks.as_strided(data, (count, sequence_length), (step, step), writeable=False)
    rows = np.array(windows[starts])
    batch = torch.from_numpy(rows.astype(np.int32) if rows.dtype == np.uint16 else rows)
    cuda = torch.device(device).type == "cuda"
    return (batch.pin_memory() if cuda else batch).view(-1).to(device, non_blocking=cuda).view(batch_size, -1)
