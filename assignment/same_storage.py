"""Do two tensors look at the same memory?"""

import torch
from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    """Tell whether `x` and `y` live on one allocation.

    A tensor is a view: a storage (one block of bytes) plus an offset, a shape and strides. Slicing,
    `view`, `transpose`, `expand` and `detach` make a new view of the same storage; `clone`, `x + 0`, and
    `contiguous()` of something that was not contiguous, make a new storage.

    Example:
        x = torch.arange(6.).reshape(2, 3)
        same_storage(x, x[1])                     # True: a row, 12 bytes further into the same storage
        same_storage(x[0], x[1])                  # True: they do not overlap, yet share one allocation
        same_storage(x, x.t())                    # True: only the strides differ
        same_storage(x, x.t().contiguous())       # False: the elements were moved
        same_storage(x, x.clone())                # False: equal values, other memory
        x.t().view(6)                             # RuntimeError: not in one row; reshape(6) would copy

    The answer is a real `bool`, and both tensors stay as they were (values, strides, gradients).
    Viewing the same bytes as another dtype, `x.view(torch.int32)`, counts as a view.
    Left to you: tensors without elements, meta tensors, arrays shared with NumPy.
    """
    raise NotImplementedError
