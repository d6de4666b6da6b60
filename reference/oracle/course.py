"""What a step of any optimizer is made of, and what it leaves as it was, whatever the optimizer's rule."""

from collections.abc import Sequence
from typing import TypeAlias

from jaxtyping import Float
from numpy import ndarray as Array

Grad: TypeAlias = Float[Array, "*shape"] | None
Met: TypeAlias = list[tuple[Grad, float]]  # in every step, a gradient or None, and a rate


def met(lrs: Sequence[Sequence[float]], grads: Sequence[Sequence[Sequence[Grad]]], group: int, i: int) -> Met:
    """What a parameter meets: `grads[step][group][i]` and its group's `lrs[step][group]`, in step after step."""
    return [(step_grads[group][i], rates[group]) for step_grads, rates in zip(grads, lrs, strict=True)]


def rates_without_own(default: float, lr: float) -> dict[str, float]:
    """The rate of a group that has none of its own, when none is given for all, and when `lr` is."""
    return {"nothing given": default, "given once": lr}


def facts_after_a_step() -> dict[str, bool]:
    """What holds of the parameters and their gradients after a step."""
    return {
        "the same Parameter": True,
        "the same memory": True,
        "a leaf that requires grad": True,
        "the same gradient": True,
        "no gradient where there was none": True,
        "autograd is on": True,
    }


def grad_after_a_step(grad: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """A gradient is read only."""
    return grad
