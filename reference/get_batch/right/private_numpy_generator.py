"""Seeds a private NumPy generator with a draw from torch's generator, and copies the batch on the current stream."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    if len(data) <= sequence_length:
        raise RuntimeError("no window")
    rng = np.random.default_rng(int(torch.randint(2**63 - 1, ())))
    starts = rng.integers(len(data) - sequence_length, size=(batch_size, 1))
    batch = torch.from_numpy(data[starts + np.arange(sequence_length)].astype(np.int64))
    if not str(device).startswith("cuda"):
        return batch.to(device)
    with torch.cuda.stream(torch.cuda.current_stream()):
        pinned = torch.empty_like(batch, pin_memory=True).copy_(batch)
        return torch.empty_like(batch, device=device).copy_(pinned, non_blocking=True)
