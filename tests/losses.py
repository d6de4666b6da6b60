"""Checks losses that student code returns."""

import torch
from torch import Tensor

from torchkata import Plain, Text, assert_close, assert_equal, check


def assert_loss(
    yours: Plain,
    exact: float | None,
    *,
    scale: float,
    roundings: float,
    what: Text | str = "loss",
    mistake: Text | str = "",
) -> None:
    """Check that the loss is a float or a scalar tensor close to `exact`, or None if `exact` is None."""
    if exact is None:
        assert_equal(yours, None, what="loss")
        return
    is_number = type(yours) is float or (isinstance(yours, Tensor) and yours.ndim == 0 and yours.is_floating_point())
    check(is_number, Text("the loss should be one number"), yours=yours, expected=Text("a float or a scalar tensor"))
    loss = torch.tensor(float(yours), dtype=torch.float32)
    assert_close(loss, exact, scale=scale, roundings=roundings, what=what, mistake=mistake)
