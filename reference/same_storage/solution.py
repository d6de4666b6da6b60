"""Check whether two tensors share a storage by comparing the addresses of their storages."""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    """Compare the addresses of the storages instead of those of the first elements."""
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
