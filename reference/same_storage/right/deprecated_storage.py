"""Uses the deprecated typed storage, which emits a warning."""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    return x.storage().data_ptr() == y.storage().data_ptr()
