"""Two tensors share a storage when its first byte is the same, wherever in it they begin."""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    """Compare the addresses of the whole allocations, not of the first elements."""
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
