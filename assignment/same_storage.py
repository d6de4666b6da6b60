"""Check whether two tensors share a storage."""

import torch
from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    """Return True if `x` and `y` share a storage, that is, one block of allocated memory.

    A tensor is a storage plus an offset, a shape and strides. Slicing, `view`, `transpose`, `expand` and `detach`
    return a new view of the same storage. `clone`, `x + 0` and `contiguous()` of a non-contiguous tensor allocate a
    new storage.

    Example:
        x = torch.arange(6.).reshape(2, 3)
        same_storage(x, x[1])                     # True: a row begins 12 bytes into the same storage
        same_storage(x[0], x[1])                  # True: two disjoint parts of one storage
        same_storage(x, x.t())                    # True: only the strides differ
        same_storage(x, x.t().contiguous())       # False: the elements were copied
        same_storage(x, x.clone())                # False: equal values in a new storage
        x.t().view(6)                             # RuntimeError: not contiguous; reshape(6) would copy

    Details:
    - Return a bool, not a tensor or a number.
    - Do not modify either tensor, or its strides, gradient or version counter.
    - A view with another dtype, such as `x.view(torch.int32)`, shares the storage of x, and so does a Parameter created
      from x.

    Not specified (any choice is fine): the result for tensors without elements, for meta tensors, and for memory shared
    with NumPy.
    """
    raise NotImplementedError
