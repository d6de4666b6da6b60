"""Random windows of a long token file, as a batch."""

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor


def get_batch(
    data: np.ndarray, batch_size: int, sequence_length: int, device: str | torch.device = "cpu"
) -> Int[Tensor, "batch sequence"]:
    """Draw `batch_size` random windows of `sequence_length` tokens from `data`.

    `data` is one long row of token ids (uint16, int32 or int64). Often it is an `np.memmap`, an array whose numbers lie
    in a file, perhaps larger than memory: what you index is read, and nothing else. So read the windows you need, never
    the whole.

    Row i of the result is `data[start : start + sequence_length]` for a `start` of its own, drawn uniformly from
    `range(len(data) - sequence_length)`. The last token is in no window: it is kept back, as the target of the one
    before it.

    Example:
        data = np.array([7, 1, 8, 2, 8], dtype=np.uint16)
        get_batch(data, batch_size=2, sequence_length=3).shape       # (2, 3): starts can be 0 or 1
        many = get_batch(data, batch_size=100, sequence_length=3)
        sorted(set(map(tuple, many.tolist())))                       # [(1, 8, 2), (7, 1, 8)]: no other row is possible
        get_batch(data, batch_size=2, sequence_length=5)             # ValueError: no window has a token after it

    - The result has an integer dtype that holds every token, lives on `device`, and shares no memory with `data`.
    - Randomness comes from torch's global CPU generator, so that `torch.manual_seed` repeats a batch. Never seed here.
    - Rows are drawn independently of each other, so a start may come twice.
    - If `len(data) <= sequence_length` there is no window: raise a `ValueError` or a `RuntimeError`.
    - For a CUDA device, pin the batch (`pin_memory()`) and copy it with `non_blocking=True`; without one, do neither.
      The GPU can fetch pinned memory while the CPU goes on; a copy from ordinary memory has to be waited for. But
      pinning copies the batch itself, and the CPU waits for that. So it pays where a loader pins batches ahead of time
      and the copy to the GPU overlaps with computation. To pin and copy one after the other can be slower than
      `batch.to(device)` alone, up to twice as slow according to PyTorch's tutorial.
    Left to you: which integer dtype, `batch_size=0`, `sequence_length=0`, a generator of your own seeded by the global
    one.
    """
    raise NotImplementedError
