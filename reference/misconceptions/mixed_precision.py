"""Mistakes in mixed precision."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import cruncher
from reference.oracle import mixed_precision as oracle

RIGHT = oracle.precisions()


def bfloat16(values: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """The nearest numbers with 8 bits."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2**8) / 2**8, exponent)


def parts(products: str, rest: str) -> dict[str, str]:
    """What the oracle names, in other dtypes."""
    return {**dict.fromkeys(RIGHT, rest), "products in the forward pass": products}


@instead_of(oracle.precisions, "nothing runs in bfloat16")
def all_float32() -> dict[str, str]:
    """No autocast around the forward pass, or one that is not enabled."""
    return parts(products="float32", rest="float32")


@instead_of(oracle.precisions, "the products run in float16, not in bfloat16")
def half() -> dict[str, str]:
    """The other half precision."""
    return parts(products="float16", rest="float32")


@instead_of(oracle.precisions, "the whole model is cast to bfloat16, parameters and all")
def all_bfloat16() -> dict[str, str]:
    """`model.bfloat16()`."""
    return parts(products="bfloat16", rest="bfloat16")


@instead_of(oracle.loss, "the loss is computed in bfloat16")
def coarse_loss(weights: Sequence[Float[Array, "d k"]], x: Float[Array, "batch d"], y: Float[Array, "batch"]) -> float:
    """From targets and squares of 8 bits."""
    squares = bfloat16(bfloat16(cruncher.forward(weights, x) - bfloat16(y)) ** 2)
    return float(bfloat16(np.mean(squares)))


@instead_of(oracle.loss, "the targets are rounded to bfloat16")
def coarse_targets(
    weights: Sequence[Float[Array, "d k"]], x: Float[Array, "batch d"], y: Float[Array, "batch"]
) -> float:
    """From targets of 8 bits, in float32."""
    return float(np.mean((cruncher.forward(weights, x) - bfloat16(y)) ** 2))


@instead_of(oracle.share, "the loss is a sum over the batch, not a mean")
def undivided(rows: int) -> float:
    """`reduction="sum"`."""
    return 1.0


@instead_of(oracle.start, "the gradients are not set to zero: those from before are still in")
def piled_up(before: Float[Array, "d k"]) -> Float[Array, "d k"]:
    """`zero_grad()` is missing."""
    return before


@instead_of(oracle.step, "the parameters are rounded to bfloat16 before the step")
def coarse_parameters(p: Float[Array, "d k"], grad: Float[Array, "d k"], lr: float) -> Float[Array, "d k"]:
    """`model.bfloat16()`, and `model.float()` when the gradients are there."""
    return bfloat16(p) - lr * grad


@instead_of(oracle.step, "the parameters are rounded to bfloat16 after the step")
def coarse_update(p: Float[Array, "d k"], grad: Float[Array, "d k"], lr: float) -> Float[Array, "d k"]:
    """Small updates vanish."""
    return bfloat16(p - lr * grad)
