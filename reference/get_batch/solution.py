"""Reference solution for get_batch."""

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor


def get_batch(
    data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu"
) -> Int[Tensor, "batch sequence"]:
    """Draw the start positions with torch, stack the windows in NumPy, and move them to the device in one copy."""
    if len(data) <= sequence_length:
        raise ValueError(f"data has {len(data)} tokens, a window and its target need {sequence_length + 1}")
    starts = torch.randint(len(data) - sequence_length, (batch_size,))
    windows = np.stack([data[start : start + sequence_length] for start in starts.tolist()])
    batch = torch.from_numpy(windows.astype(np.int64))
    device = torch.device(device)
    if device.type == "cuda":
        return batch.pin_memory().to(device, non_blocking=True)
    return batch.to(device)
