"""Probe of normalise that returns the argument after the call."""

from typing import Any

from numpy import ndarray as Array

from torchkata import typed


@typed("normalise(x)\nx")
def argument_after(assignment: Any, x: Array) -> Array:
    """Return `x` after the call."""
    assignment.normalise.normalise(x)
    return x
