"""A loss that came back from a student's code, as a number."""

import torch
from torch import Tensor

from torchkata import Plain, assert_close, assert_equal, check


def assert_loss(yours: Plain, exact: float | None, *, scale: float, roundings: float) -> None:
    """Demand one number, a float or a tensor without axes, as near to the exact one as float32 allows.

    Where None is expected, as a known mistake may, nothing else will do.
    """
    if exact is None:
        assert_equal(yours, None, what="loss")
        return
    is_number = type(yours) is float or (isinstance(yours, Tensor) and yours.ndim == 0 and yours.is_floating_point())
    check(is_number, "the loss should be one number", yours=yours, expected="a float, or a tensor without axes")
    loss = torch.tensor(float(yours), dtype=torch.float32)
    assert_close(loss, exact, scale=scale, roundings=roundings, what="loss")
