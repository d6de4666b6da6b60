"""Draws from a torch generator of its own, seeded by a draw from the global one."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    if len(data) <= sequence_length:
        raise ValueError("no window")
    generator = torch.Generator().manual_seed(torch.empty((), dtype=torch.int64).random_().item())
    starts = torch.randint(len(data) - sequence_length, (batch_size,), generator=generator)
    rows = [torch.from_numpy(data[start : start + sequence_length].astype(np.int64)) for start in starts.tolist()]
    return torch.stack(rows).to(device)
