"""The parts of a step that are common to all optimizers. Known mistakes replace them one at a time.

A function whose name begins with `hook_` changes nothing: it exists only to be replaced by a mistake.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from jaxtyping import Float
from numpy import ndarray as Array

Grad: TypeAlias = Float[Array, "*shape"] | None
Inputs: TypeAlias = list[tuple[Grad, float]]  # a gradient and a learning rate for each step


def collect_inputs(
    lrs: Sequence[Sequence[float]], grads: Sequence[Sequence[Sequence[Grad]]], group: int, i: int
) -> Inputs:
    """Return `grads[step][group][i]` and `lrs[step][group]` for each step."""
    return [(step_grads[group][i], rates[group]) for step_grads, rates in zip(grads, lrs, strict=True)]


def get_options(given: Sequence[Mapping[str, Any]], group: int) -> Mapping[str, Any]:
    """Return the options given for a group, except lr, or an empty dict if no options are given."""
    return given[group] if given else {}


def hook_skipped_parameter(
    p: Float[Array, "*shape"],
    options: Mapping[str, Any],  # noqa: ARG001  (for mistakes, includes lr)
    state: Any,  # noqa: ARG001
) -> Float[Array, "*shape"]:
    """Return a parameter after a step without a gradient, which leaves it unchanged."""
    return p


def hook_skipped_state(state: Any, options: Mapping[str, Any]) -> Any:  # noqa: ARG001
    """Return a parameter's state after a step without a gradient, which leaves it unchanged."""
    return state


def hook_recalled_state(
    state: Any,
    grads: Sequence[Sequence[Sequence[Grad]]],  # noqa: ARG001
    group: int,  # noqa: ARG001
    i: int,  # noqa: ARG001
    step: int,  # noqa: ARG001
) -> Any:
    """Return the state of parameter `i` of a group at the start of a step, which is the state after its last step."""
    return state


def hook_loaded_state(state: Any) -> Any:
    """Return a parameter's state in a new optimizer after loading the old state, which is restored unchanged."""
    return state


def hook_loaded_rates(saved: Sequence[float], own: Sequence[float]) -> Sequence[float]:  # noqa: ARG001
    """Return the learning rates that an optimizer uses after loading: the `saved` ones, not its `own`."""
    return saved


def is_within_budget(held: Mapping[str, int], own: Mapping[str, int], tensors: int) -> bool:
    """Return whether the state takes at most `tensors` times as much memory as the parameters."""
    return sum(held.values()) <= tensors * sum(own.values())


def hook_default_rate(lr: float) -> float:
    """Return the default learning rate, which is `lr`."""
    return lr


def get_group_rates(default: float, lr: float) -> tuple[float, float]:
    """Return the rate of a group without its own lr, for a constructor call without lr and for one with `lr`."""
    return hook_default_rate(default), lr
