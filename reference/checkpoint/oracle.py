"""Computes the state that loading a checkpoint restores, and the run after it."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from torch import Tensor

Weights: TypeAlias = Sequence[Tensor]
Run: TypeAlias = Mapping[str, Any]  # its losses and final weights


def after_loading(saved: Weights, before: Weights, later: Weights) -> Weights:  # noqa: ARG001
    """Return the weights after loading: the saved ones, not those from `before` loading or from `later`."""
    return saved


def buffer_after_loading(saved: Tensor, before: Tensor) -> Tensor:
    """Return a buffer after loading."""
    return after_loading([saved], [before], [saved])[0]


def continue_run(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:  # noqa: ARG001
    """Select the run that a resumed run must equal: the uninterrupted one.

    Args:
        runs: Runs from the saved weights, with and without parts of the optimizer's state.
        found: Whether the bytes of each weight and of each tensor of the optimizer's state are in the file.
    """
    return runs["through"]
