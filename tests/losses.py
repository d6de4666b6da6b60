"""Checks losses that student code returns."""

import torch
from torch import Tensor

from tests.own_answers import holds
from torchkata import Plain, Text, assert_close, assert_equal, check, show


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
    if isinstance(yours, Tensor) and yours.dtype == loss.dtype:
        assert_close(loss, exact, scale=scale, roundings=roundings, what=what, mistake=mistake)
    else:  # shown as it was returned
        is_close = holds(assert_close, loss, exact, scale=scale, roundings=roundings, what=what)
        note = Text("the loss is wrong") if what == "loss" else what
        check(is_close, note, mistake=mistake, yours=yours, expected=show(torch.tensor(exact, dtype=loss.dtype)))
