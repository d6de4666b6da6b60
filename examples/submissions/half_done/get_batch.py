"""Kata 2: random windows of a long token file, as a batch."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    """Draw starts up to the last window, whose last token has no target."""
    starts = torch.randint(0, len(data) - sequence_length + 1, (batch_size,))
    rows = [torch.from_numpy(data[s : s + sequence_length].astype(np.int64)) for s in starts.tolist()]
    batch = torch.stack(rows)
    if torch.device(device).type == "cuda":
        return batch.pin_memory().to(device, non_blocking=True)
    return batch.to(device)
