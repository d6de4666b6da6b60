"""Replaces the student's `get_batch` in katas that build on it, if the student's version fails its tests."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    """Gather all windows with a single indexing operation."""
    if len(data) <= sequence_length:
        raise ValueError(f"{len(data)} tokens are too few for windows of {sequence_length} and a target")
    starts = torch.randint(len(data) - sequence_length, (batch_size, 1))
    windows = data[(starts + torch.arange(sequence_length)).numpy()]
    batch = torch.from_numpy(windows.astype(np.int64))
    if torch.device(device).type == "cuda":
        batch = batch.pin_memory()
    return batch.to(device, non_blocking=batch.is_pinned())
