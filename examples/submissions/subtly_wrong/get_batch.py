"""Kata 2: random windows of a long token file, as a batch."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    """Index all windows at once."""
    highest = len(data) - sequence_length
    if highest <= 0:
        raise ValueError("the data is too short for a window and its target")
    starts = torch.randint(0, highest, (batch_size, 1))
    index = starts + torch.arange(sequence_length)
    batch = torch.tensor(data[index.numpy()].astype(np.int64))
    if torch.device(device).type == "cuda":
        batch = batch.pin_memory()
    return batch.to(device, non_blocking=True)
