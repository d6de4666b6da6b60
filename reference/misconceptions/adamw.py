"""Mistakes in AdamW."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.misconceptions.optimizers import *  # noqa: F403
from reference.oracle import adam
from reference.oracle import adamw as oracle


@instead_of(oracle.decayed, "weight_decay is ignored")
def not_decayed(
    p: Float[Array, "*shape"],
    lr: float,
    weight_decay: float,
) -> Float[Array, "*shape"]:
    """The parameter as it is."""
    return p


@instead_of(oracle.decayed, "lr is missing from the decay")
def without_rate(
    p: Float[Array, "*shape"],
    lr: float,
    weight_decay: float,
) -> Float[Array, "*shape"]:
    """As in the paper, whose schedule multiplies both."""
    return p * (1 - weight_decay)


@instead_of(oracle.decayed, "the parameter is multiplied by lr * weight_decay, not by 1 minus that")
def all_but_gone(p: Float[Array, "*shape"], lr: float, weight_decay: float) -> Float[Array, "*shape"]:
    """Hardly anything stays."""
    return p * (lr * weight_decay)


@instead_of(oracle.decayed, "the decay pushes the parameter away from 0")
def decayed_away(p: Float[Array, "*shape"], lr: float, weight_decay: float) -> Float[Array, "*shape"]:
    """Plus for minus."""
    return p * (1 + lr * weight_decay)


@instead_of(oracle.step, "weight_decay joins the gradient, as in Adam")
def coupled(
    p: Float[Array, "*shape"],
    memory: adam.Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: adam.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Float[Array, "*shape"], adam.Memory]:
    """What AdamW was made to mend."""
    return adam.step(p, memory, grad, lr, betas, eps, weight_decay)


@instead_of(oracle.step, "the decay comes after the update, and shrinks that, too")
def decayed_afterwards(
    p: Float[Array, "*shape"],
    memory: adam.Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: adam.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Float[Array, "*shape"], adam.Memory]:
    """Not the same to second order in lr."""
    moved, memory = adam.step(p, memory, grad, lr, betas, eps)
    return oracle.decayed(moved, lr, weight_decay), memory


@instead_of(oracle.step, "bias correction is missing")
def uncorrected(
    p: Float[Array, "*shape"],
    memory: adam.Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: adam.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Float[Array, "*shape"], adam.Memory]:
    """The averages as they are."""
    m, v, t = memory or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = adam.averages(m, v, grad, betas)
    return oracle.decayed(p, lr, weight_decay) - lr * adam.direction(m, v, eps), (m, v, t + 1)


@instead_of(oracle.step, "eps stands inside the root")
def epsilon_inside(
    p: Float[Array, "*shape"],
    memory: adam.Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: adam.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Float[Array, "*shape"], adam.Memory]:
    """As in AdaGrad's kata."""
    m, v, t = memory or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = adam.averages(m, v, grad, betas)
    of_m, of_v = adam.corrections(t + 1, betas)
    return oracle.decayed(p, lr, weight_decay) - lr * (m / of_m) / np.sqrt(v / of_v + eps), (m, v, t + 1)
