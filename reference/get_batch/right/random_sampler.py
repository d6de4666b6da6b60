"""Uses RandomSampler, which draws from a private torch generator seeded from the global one."""

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import RandomSampler


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    windows = range(len(data) - sequence_length)
    if not windows:
        raise ValueError("no window")
    starts = list(RandomSampler(windows, replacement=True, num_samples=batch_size))
    rows = np.stack([data[start:][:sequence_length] for start in starts])
    batch = torch.as_tensor(rows.astype("int64"))
    if torch.cuda.is_available() and "cuda" in str(device):
        with torch.cuda.stream(torch.cuda.current_stream()):
            return batch.pin_memory().to(device=device, non_blocking=True)
    return torch.as_tensor(batch, device=device)
