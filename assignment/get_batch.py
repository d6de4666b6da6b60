"""Batches: random windows of a long token file."""

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor


def get_batch(
    data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu"
) -> Int[Tensor, "batch sequence"]:
    """Draw `batch_size` random windows of `sequence_length` tokens from `data`.

    `data` is a one-dimensional array of token ids (uint16, int32 or int64), often an `np.memmap`: an array in a file
    that may be larger than memory. Indexing reads only the indexed elements, so read only the windows.

    Row i of the result is `data[start : start + sequence_length]` with its own `start`, drawn uniformly from
    `range(len(data) - sequence_length)`. No window contains the last token, which is only a target (the token to
    predict).

    Example:
        data = np.array([7, 1, 8, 2, 8], dtype=np.uint16)
        get_batch(data, batch_size=2, sequence_length=3).shape       # (2, 3): start can be 0 or 1
        many = get_batch(data, batch_size=100, sequence_length=3)
        sorted(set(map(tuple, many.tolist())))                       # [(1, 8, 2), (7, 1, 8)]
        get_batch(data, batch_size=2, sequence_length=5)             # ValueError: no token follows the window

    Details:
    - Draw the start positions independently, with replacement.
    - Draw with torch's global CPU generator, so that `torch.manual_seed` makes batches reproducible. Do not set the
      seed.
    - The result has an integer dtype that can represent every token, and is on `device`.
    - Do not modify `data` or share memory with it.
    - If `len(data) <= sequence_length`, raise a `ValueError` or a `RuntimeError`.
    - If `device` is a CUDA device, pin the batch (`pin_memory()`) and copy it with `non_blocking=True`. On other
      devices, do not pin. The test simulates a GPU, so you need none. Pinned (page-locked) memory is never swapped out,
      so the GPU can copy from it while the CPU prepares the next batch. Pinning itself blocks: it saves time only if a
      data loader pins batches in advance.

    Not specified (any choice is fine): the integer dtype; the result for `batch_size=0` or `sequence_length=0`; whether
    you use a private generator that is seeded from the global one.
    """
    raise NotImplementedError
