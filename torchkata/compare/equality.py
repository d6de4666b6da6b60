"""Compares plain values bit by bit."""

from typing import TYPE_CHECKING, Any

import numpy as np

from torchkata.inside.values import Plain, is_array, is_tensor

if TYPE_CHECKING:
    from torch import Tensor


def same(a: Plain, b: Plain) -> bool:
    """Return whether two plain values have the same type, shape and bits. NaNs and a tuple and its list compare equal.

    Example:
        check(not same(first, second), "two consecutive calls return the same batch")
    """
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if type(a) is not type(b):
        return False
    if is_tensor(a):
        return a.dtype == b.dtype and a.shape == b.shape and tensors_equal(a, b)
    if is_array(a):
        return a.dtype == b.dtype and a.shape == b.shape and arrays_equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b) or (a != a and b != b)


def arrays_equal(a: Any, b: Any) -> bool:
    """Return whether two arrays of the same dtype and shape are equal."""
    if a.dtype.kind == "c":
        return arrays_equal(a.real, b.real) and arrays_equal(a.imag, b.imag)
    if a.dtype.kind == "f":
        return bool(np.all((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)))
    return bool(np.array_equal(a, b))


def tensors_equal(a: "Tensor", b: "Tensor") -> bool:
    """Return whether two tensors of the same dtype and shape are equal."""
    import torch

    if a.is_complex():
        return tensors_equal(torch.view_as_real(a), torch.view_as_real(b))
    if a.is_floating_point():
        same_number = (a == b) & (a.signbit() == b.signbit())
        return bool(torch.all(same_number | (a.isnan() & b.isnan())))
    return bool(np.array_equal(a.numpy(), b.numpy()))  # torch cannot compare uint16
