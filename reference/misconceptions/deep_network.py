"""Mistakes in a deep network."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import deep_network as oracle


@instead_of(oracle.block, "the ReLU is missing")
def linear(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """A product alone."""
    return x @ weight


@instead_of(oracle.block, "the ReLU comes before the product, not after it")
def relu_first(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """Activation, then weight."""
    return np.maximum(x, 0.0) @ weight


@instead_of(oracle.block, "the weight is transposed before the product")
def transposed(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """As in nn.Linear."""
    return np.maximum(x @ weight.T, 0.0)


@instead_of(oracle.block, "the input is added to the output, as in a residual network")
def residual(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """A skip connection."""
    return x + np.maximum(x @ weight, 0.0)


@instead_of(oracle.relu, "negative numbers lose their sign instead of becoming 0")
def absolute(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """As if a ReLU were an absolute value."""
    return np.abs(z)


@instead_of(oracle.network, "the last layer's ReLU is missing")
def last_linear(weights: Sequence[Float[Array, "d d"]], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """As for a network that ends in logits."""
    for weight in weights[:-1]:
        x = np.maximum(x @ weight, 0.0)
    return x @ weights[-1] if weights else x


@instead_of(oracle.network, "the layers are applied in reverse")
def reverse(weights: Sequence[Float[Array, "d d"]], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """The last one first."""
    for weight in reversed(weights):
        x = np.maximum(x @ weight, 0.0)
    return x


@instead_of(oracle.network, "the first layer is applied again and again")
def first_again(weights: Sequence[Float[Array, "d d"]], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """One weight for all."""
    for _ in weights:
        x = np.maximum(x @ weights[0], 0.0)
    return x


@instead_of(oracle.initial_std, "the spread at the start is sqrt(2 / dim), as He chose it")
def he(dim: int) -> float:
    """A good choice before a ReLU, and another one than asked for."""
    return float(np.sqrt(2 / dim))


@instead_of(oracle.initial_std, "the spread at the start is 1 / dim, without the root")
def without_root(dim: int) -> float:
    """Too small."""
    return 1 / dim


@instead_of(oracle.initial_std, "the spread at the start is 1, whatever the width")
def standard(dim: int) -> float:
    """A plain randn."""
    return 1.0


@instead_of(oracle.num_parameters, "the layers have biases")
def with_biases(dim: int, num_layers: int) -> int:
    """As nn.Linear has, unless told otherwise."""
    return (dim * dim + dim) * num_layers
