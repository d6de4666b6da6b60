"""What a step of any optimizer is made of, and what it leaves as it was, whatever the optimizer's rule."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from jaxtyping import Float
from numpy import ndarray as Array

Grad: TypeAlias = Float[Array, "*shape"] | None
Met: TypeAlias = list[tuple[Grad, float]]  # in every step, a gradient or None, and a rate


def met(lrs: Sequence[Sequence[float]], grads: Sequence[Sequence[Sequence[Grad]]], group: int, i: int) -> Met:
    """What a parameter meets: `grads[step][group][i]` and its group's `lrs[step][group]`, in step after step."""
    return [(step_grads[group][i], rates[group]) for step_grads, rates in zip(grads, lrs, strict=True)]


def options(given: Sequence[Mapping[str, Any]], group: int) -> Mapping[str, Any]:
    """What a group goes by beside its rate, of what is given to each; what is not given has its default."""
    return given[group] if given else {}


def parameter_without_gradient(
    p: Float[Array, "*shape"],
    options: Mapping[str, Any],  # noqa: ARG001  (whatever they are, lr among them)
) -> Float[Array, "*shape"]:
    """A parameter after a step in which it has no gradient: it stays as it is."""
    return p


def memory_without_gradient(memory: Any) -> Any:
    """What is remembered of a parameter after a step in which it has no gradient: the same as before."""
    return memory


def memory_after_loading(memory: Any) -> Any:
    """What a new optimizer remembers of a parameter that has loaded the state of an old one: all of it."""
    return memory


def rates_after_loading(saved: Sequence[float], own: Sequence[float]) -> Sequence[float]:  # noqa: ARG001
    """The rates of the groups of an optimizer that had its `own`, once a saved state is loaded: those in it."""
    return saved


def is_needed(kept: Mapping[str, int], own: Mapping[str, int], tensors: int) -> bool:
    """Whether what is kept, in bytes by dtype, is no more than so many tensors for each of the `own` parameters."""
    return sum(kept.values()) <= tensors * sum(own.values())


def default_rate(lr: float) -> float:
    """The rate where none is given, to an optimizer that has `lr` for that."""
    return lr


def rates_without_own(default: float, lr: float) -> tuple[float, float]:
    """The rate of a group that has none of its own, when none is given for all, and when `lr` is."""
    return default_rate(default), lr
