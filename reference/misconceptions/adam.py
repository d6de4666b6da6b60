"""Mistakes in Adam."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.misconceptions.optimizers import *  # noqa: F403
from reference.oracle import adam as oracle


@instead_of(oracle.corrections, "bias correction is missing")
def uncorrected(t: int, betas: oracle.Betas) -> tuple[float, float]:
    """The averages as they are."""
    return 1.0, 1.0


@instead_of(oracle.corrections, "the average of the squares is not corrected")
def only_the_first_corrected(t: int, betas: oracle.Betas) -> tuple[float, float]:
    """First steps of thirty times the size."""
    return 1 - betas[0] ** t, 1.0


@instead_of(oracle.corrections, "the average of the gradient is not corrected")
def only_the_second_corrected(t: int, betas: oracle.Betas) -> tuple[float, float]:
    """First steps of a tenth of the size."""
    return 1.0, 1 - betas[1] ** t


@instead_of(oracle.corrections, "bias correction divides by 1 - beta, whatever the step")
def of_the_first_step(t: int, betas: oracle.Betas) -> tuple[float, float]:
    """Right once."""
    return 1 - betas[0], 1 - betas[1]


@instead_of(oracle.corrections, "bias correction counts one step too many: the first step is t = 1")
def one_too_many(t: int, betas: oracle.Betas) -> tuple[float, float]:
    """Counted up twice."""
    return 1 - betas[0] ** (t + 1), 1 - betas[1] ** (t + 1)


@instead_of(oracle.averages, "beta2 is applied to the gradient, not to its square")
def of_the_gradient_twice(
    m: Float[Array, "*shape"], v: Float[Array, "*shape"], grad: Float[Array, "*shape"], betas: oracle.Betas
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Of its size, rather: there is a root to be taken."""
    return betas[0] * m + (1 - betas[0]) * grad, betas[1] * v + (1 - betas[1]) * abs(grad)


@instead_of(oracle.step, "beta1 and beta2 have changed places")
def exchanged(
    p: Float[Array, "*shape"],
    memory: oracle.Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: oracle.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Float[Array, "*shape"], oracle.Memory]:
    """A short memory for the squares, a long one for the gradients."""
    m, v, t = memory or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = oracle.averages(m, v, oracle.decayed(p, grad, weight_decay), (betas[1], betas[0]))
    of_m, of_v = oracle.corrections(t + 1, (betas[1], betas[0]))
    return p - lr * oracle.direction(m / of_m, v / of_v, eps), (m, v, t + 1)


@instead_of(oracle.averages, "the new gradient and its square enter whole, without 1 - beta")
def entering_whole(
    m: Float[Array, "*shape"], v: Float[Array, "*shape"], grad: Float[Array, "*shape"], betas: oracle.Betas
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Sums that fade."""
    return betas[0] * m + grad, betas[1] * v + grad**2


@instead_of(oracle.direction, "eps stands inside the root")
def epsilon_inside(m: Float[Array, "*shape"], v: Float[Array, "*shape"], eps: float) -> Float[Array, "*shape"]:
    """As in AdaGrad's kata."""
    return m / np.sqrt(v + eps)


@instead_of(oracle.direction, "the root is missing")
def no_root(m: Float[Array, "*shape"], v: Float[Array, "*shape"], eps: float) -> Float[Array, "*shape"]:
    """Large gradients take the smallest steps."""
    return m / (v + eps)


@instead_of(oracle.step, "eps joins the root before bias correction, and is corrected with it")
def epsilon_too_early(
    p: Float[Array, "*shape"],
    memory: oracle.Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: oracle.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Float[Array, "*shape"], oracle.Memory]:
    """The shorter form at the end of section 2 of the paper, without its other epsilon."""
    m, v, t = memory or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = oracle.averages(m, v, oracle.decayed(p, grad, weight_decay), betas)
    of_m, of_v = oracle.corrections(t + 1, betas)
    return p - lr * of_v**0.5 / of_m * oracle.direction(m, v, eps), (m, v, t + 1)


@instead_of(oracle.decayed, "weight_decay is ignored")
def not_decayed(
    p: Float[Array, "*shape"],
    grad: Float[Array, "*shape"],
    weight_decay: float,
) -> Float[Array, "*shape"]:
    """The gradient alone."""
    return grad


@instead_of(oracle.decayed, "weight_decay pushes the parameter away from 0")
def decayed_away(
    p: Float[Array, "*shape"], grad: Float[Array, "*shape"], weight_decay: float
) -> Float[Array, "*shape"]:
    """Minus for plus."""
    return grad - weight_decay * p


@instead_of(oracle.step, "weight_decay shrinks the parameter itself: that is AdamW")
def decoupled(
    p: Float[Array, "*shape"],
    memory: oracle.Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: oracle.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Float[Array, "*shape"], oracle.Memory]:
    """Apart from the gradient."""
    m, v, t = memory or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = oracle.averages(m, v, grad, betas)
    of_m, of_v = oracle.corrections(t + 1, betas)
    shrunk = p * (1 - lr * weight_decay)
    return shrunk - lr * oracle.direction(m / of_m, v / of_v, eps), (m, v, t + 1)
