"""What comes back from a checkpoint, and how the run goes on."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from torch import Tensor

Weights: TypeAlias = Sequence[Tensor]
Run: TypeAlias = Mapping[str, Any]  # its losses, and the weights at its end


def after_loading(saved: Weights, before: Weights, later: Weights) -> Weights:  # noqa: ARG001  (neither of them)
    """The weights after loading: those that were saved, not the model's own before, nor what became of the saved."""
    return saved


def buffer_after_loading(saved: Tensor, before: Tensor) -> Tensor:
    """A buffer after loading."""
    return after_loading([saved], [before], [saved])[0]


def rest_of_the_run(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:  # noqa: ARG001  (whatever is)
    """How a resumed run goes on, of several runs from the weights in the file: as the one that never stopped.

    `found` says of each weight, and of each tensor that the optimizer remembers, whether its bytes are in the file.
    """
    return runs["through"]
