"""Mistakes in RMSprop."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.misconceptions.optimizers import *  # noqa: F403
from reference.oracle import rmsprop as oracle


@instead_of(oracle.average, "nothing fades: the squares add up, as in AdaGrad")
def added_up(
    v: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    alpha: float,
) -> Float[Array, "*shape"]:
    """A sum over all steps."""
    return grad**2 + (0 if v is None else v)


@instead_of(oracle.average, "the old average fades, and the new square enters whole, without 1 - alpha")
def square_enters_whole(
    v: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], alpha: float
) -> Float[Array, "*shape"]:
    """A sum that fades."""
    return grad**2 + (0 if v is None else alpha * v)


@instead_of(oracle.average, "alpha weighs the new square; it belongs to the old average")
def exchanged(v: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], alpha: float) -> Float[Array, "*shape"]:
    """The two weights in each other's place."""
    return (1 - alpha) * (0 if v is None else v) + alpha * grad**2


@instead_of(oracle.average, "the average starts with the first square; it starts at 0")
def starts_with_the_first_square(
    v: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], alpha: float
) -> Float[Array, "*shape"]:
    """No bias at all."""
    return grad**2 if v is None else alpha * v + (1 - alpha) * grad**2


@instead_of(oracle.average, "the average is of the gradient; its square is what is averaged")
def of_the_gradient(
    v: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], alpha: float
) -> Float[Array, "*shape"]:
    """Of its size, rather: there is a root to be taken."""
    return (alpha * np.sqrt(0 if v is None else v) + (1 - alpha) * abs(grad)) ** 2


@instead_of(oracle.direction, "eps stands inside the root")
def epsilon_inside(v: Float[Array, "*shape"], grad: Float[Array, "*shape"], eps: float) -> Float[Array, "*shape"]:
    """As in AdaGrad's kata."""
    return grad / np.sqrt(v + eps)


@instead_of(oracle.direction, "eps is missing")
def no_epsilon(
    v: Float[Array, "*shape"],
    grad: Float[Array, "*shape"],
    eps: float,
) -> Float[Array, "*shape"]:
    """Steps of one size, however tiny the gradient."""
    return grad / np.sqrt(v)


@instead_of(oracle.direction, "the root is missing")
def no_root(v: Float[Array, "*shape"], grad: Float[Array, "*shape"], eps: float) -> Float[Array, "*shape"]:
    """Large gradients take the smallest steps."""
    return grad / (v + eps)


@instead_of(oracle.direction, "the gradient is not divided by the root")
def not_divided(
    v: Float[Array, "*shape"],
    grad: Float[Array, "*shape"],
    eps: float,
) -> Float[Array, "*shape"]:
    """Plain gradient descent."""
    return grad


@instead_of(oracle.step, "the parameter moves before the square joins the average")
def one_step_late(
    p: Float[Array, "*shape"],
    v: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    lr: float,
    alpha: float = 0.99,
    eps: float = 1e-8,
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """The first step is divided by eps alone."""
    before = np.zeros_like(p) if v is None else v
    return p - lr * oracle.direction(before, grad, eps), oracle.average(v, grad, alpha)


@instead_of(oracle.step, "the gradient is added: p goes uphill")
def uphill(
    p: Float[Array, "*shape"],
    v: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    lr: float,
    alpha: float = 0.99,
    eps: float = 1e-8,
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Plus for minus."""
    v = oracle.average(v, grad, alpha)
    return p + lr * oracle.direction(v, grad, eps), v
