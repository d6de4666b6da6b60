"""Returns an instance of a Tensor subclass that `copy.deepcopy` cannot copy."""

import numpy as np
import torch
from torch import Tensor


class Tokens(Tensor):
    pass


def get_batch(data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu") -> Tensor:
    if len(data) <= sequence_length:
        raise ValueError("no window")
    starts = torch.randint(len(data) - sequence_length, (batch_size, 1)).numpy()
    windows = np.asarray(data[starts + np.arange(sequence_length)]).astype(np.int64)
    tokens = torch.from_numpy(windows).as_subclass(Tokens)
    cuda = torch.device(device).type == "cuda"
    return tokens.pin_memory().to(device, non_blocking=True) if cuda else tokens.to(device)
