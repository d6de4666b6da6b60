"""Flips the first byte of x's storage, reads that of y's storage, and restores the byte."""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    mine, other = x.untyped_storage(), y.untyped_storage()
    before = mine[0]
    seen = other[0]
    mine[0] = 255 - before
    shared = bool(other[0] != seen)
    mine[0] = before
    return shared
