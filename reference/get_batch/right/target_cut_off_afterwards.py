"""Cuts windows with their targets, and returns a view of all but the last column."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    if len(data) < sequence_length + 1:
        raise ValueError("no window")
    starts = torch.randint(len(data) - sequence_length, (batch_size,)).numpy()
    with_targets = np.lib.stride_tricks.sliding_window_view(data, sequence_length + 1)[starts]
    return torch.from_numpy(with_targets.astype(np.int64))[:, :-1].to(device)
