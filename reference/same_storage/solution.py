"""Two tensors share a storage if their storages have the same address."""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    """Compare the addresses of the storages, not of the first elements."""
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
