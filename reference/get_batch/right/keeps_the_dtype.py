"""Returns a result in the dtype of the data, which may be torch.uint16."""

import numpy as np
import torch
from torch import Tensor


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    if len(data) <= sequence_length:
        raise ValueError("no window")
    windows = torch.from_numpy(data).unfold(0, sequence_length, 1)
    batch = windows[torch.randint(len(data) - sequence_length, (batch_size,))]
    if torch.device(device).type == "cuda":
        return batch.pin_memory().cuda(device, non_blocking=True)
    return batch.to(device)
