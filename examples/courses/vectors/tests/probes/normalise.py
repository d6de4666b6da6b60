"""Probe of normalise: whether the argument stays as it was shows beside the student's code only."""

from typing import Any

from numpy import ndarray as Array

from torchkata import typed


@typed("normalise(x)\nx")
def argument_after(assignment: Any, x: Array) -> Array:
    """What `x` holds once it has been normalised."""
    assignment.normalise.normalise(x)
    return x
