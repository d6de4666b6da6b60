"""Compares weak references to the storages, as torch.multiprocessing does."""

from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef


def same_storage(x: Tensor, y: Tensor) -> bool:
    return StorageWeakRef(x.untyped_storage()) == StorageWeakRef(y.untyped_storage())
