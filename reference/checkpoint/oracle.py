"""Computes the state after a checkpoint has been loaded, and the training run that continues from it."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from torch import Tensor

Weights: TypeAlias = Sequence[Tensor]
Run: TypeAlias = Mapping[str, Any]  # the losses and final weights


def after_loading(saved: Weights, before: Weights, later: Weights) -> Weights:  # noqa: ARG001
    """Return the weights after loading: the saved ones, not those from before loading or from later training."""
    return saved


def buffer_after_loading(saved: Tensor, before: Tensor) -> Tensor:
    """Return the value of a buffer after loading."""
    return after_loading([saved], [before], [saved])[0]


def continue_run(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:  # noqa: ARG001
    """Return the uninterrupted run, because a resumed run must be identical to it.

    Args:
        runs: Runs from the saved weights, with and without parts of the optimizer's state.
        found: Whether the file contains the bytes of each weight and of each tensor in the optimizer's state.
    """
    return runs["through"]
