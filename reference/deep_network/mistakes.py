"""Mistakes in deep_network."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.deep_network import oracle
from torchkata import Mistake, instead_of

Weights: TypeAlias = Sequence[Float[Array, "d d"]]
Rows: TypeAlias = Float[Array, "row d"]
Grads: TypeAlias = tuple[Sequence[Array | None], Array | None]
Anatomy: TypeAlias = dict[str, object]

ONE_BLOCK = "all layers share one weight, as if they were the same Block"


@instead_of(oracle.block, "the ReLU is missing")
def linear(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    return x @ weight


@instead_of(oracle.block, "the ReLU is applied before the matmul instead of after it")
def relu_first(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    return np.maximum(x, 0.0) @ weight


@instead_of(oracle.block, "the weight is transposed before the matmul")
def transposed(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    return np.maximum(x @ weight.T, 0.0)


@instead_of(oracle.block, "the input is added to the output, as in a residual network")
def residual(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    return x + np.maximum(x @ weight, 0.0)


@instead_of(oracle.relu, "the absolute value is taken instead of a ReLU")
def absolute(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return np.abs(z)


@instead_of(oracle.relu, "negative numbers are scaled down instead of set to 0, as in a leaky ReLU")
def leaky(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return np.where(z > 0, z, 0.01 * z)


@instead_of(oracle.relu, "a GELU is used instead of a ReLU")
def gelu(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return z * np.vectorize(lambda one: (1 + math.erf(one / math.sqrt(2))) / 2, otypes=[float])(z)


@instead_of(oracle.relu, "values above 6 are clamped, as in ReLU6")
def relu6(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return np.clip(z, 0, 6)


@instead_of(oracle.block, "the ReLU is applied to the weight instead of to the result of the matmul")
def relu_of_the_weight(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    return x @ np.maximum(weight, 0)


@instead_of(oracle.block, "a first dimension of size 1 is squeezed away")
def first_squeezed(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "..."]:
    y = oracle.block(weight, x)
    return y[0] if y.shape[0] == 1 else y


def apply(choose: Callable[[Weights], Weights], message: str) -> Mistake:
    """Return a mistake that applies the layers with other weights or in another order."""
    return instead_of(oracle.network, message)(lambda weights, x: oracle.network(choose(weights), x))


last_left_out = apply(lambda weights: weights[:-1], "the last layer is skipped")
first_left_out = apply(lambda weights: weights[1:], "the first layer is skipped")
all_see_the_input = apply(
    lambda weights: weights[-1:], "only the last layer has an effect: apply each layer to the output of the one before"
)
reverse = apply(lambda weights: weights[::-1], "the layers are applied in reverse order")
first_again = apply(lambda weights: [*weights[:1]] * len(weights), "the first layer is applied in place of every layer")


@instead_of(oracle.anatomy, ONE_BLOCK)
def one_block(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, num_layers) | {"parameters": oracle.num_parameters(dim, min(1, num_layers))}


@instead_of(oracle.network, "the last layer's ReLU is missing")
def last_linear(weights: Sequence[Float[Array, "d d"]], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    for weight in weights[:-1]:
        x = np.maximum(x @ weight, 0.0)
    return x @ weights[-1] if weights else x


@instead_of(oracle.initial_std, "the initial standard deviation is sqrt(2 / dim), as in He initialization")
def he(dim: int) -> float:
    return float(np.sqrt(2 / dim))


@instead_of(oracle.initial_std, "the initial standard deviation is 1 / dim: the square root is missing")
def without_root(dim: int) -> float:
    return 1 / dim


@instead_of(oracle.initial_std, "the initial standard deviation is sqrt(dim) instead of 1 / sqrt(dim)")
def multiplied(dim: int) -> float:
    return float(np.sqrt(dim))


@instead_of(oracle.initial_std, "the initial standard deviation is {std:g} instead of 1 / sqrt(dim)", std=[0.01, 0.02])
def constant_std(dim: int, std: float) -> float:
    return std


@instead_of(oracle.initial_std, "the initial standard deviation is always 1")
def standard(dim: int) -> float:
    return 1.0


@instead_of(oracle.initial_stds, "deeper layers are initialized with smaller weights")
def smaller_with_depth(dim: int, num_layers: int) -> list[float]:
    return [std / math.sqrt(i + 1) for i, std in enumerate(oracle.initial_stds(dim, num_layers))]


@instead_of(oracle.anatomy, "the layers have biases")
def with_biases(dim: int, num_layers: int) -> Anatomy:
    shapes = {f"layers.{i}.{name}": shape for i in range(num_layers) for name, shape in both(dim)}
    return oracle.anatomy(dim, num_layers) | {"parameters": (dim * dim + dim) * num_layers, "state_dict": shapes}


def both(dim: int) -> list[tuple[str, list[int]]]:
    """Return the names and shapes of a layer's weight and bias."""
    return [("weight", [dim, dim]), ("bias", [dim])]


@instead_of(oracle.anatomy, "layers is not an nn.ModuleList, and its parameters are not registered, as in a plain list")
def plain_list(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, 0) | {"layers is an nn.ModuleList": False}


@instead_of(oracle.anatomy, "layers is not an nn.ModuleList, but another container, such as an nn.Sequential")
def other_container(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, num_layers) | {"layers is an nn.ModuleList": False}


@instead_of(
    oracle.anatomy,
    "each layer is not a Block: its weight is called layers.0.0.weight instead of layers.0.weight, "
    "as in an nn.Sequential",
)
def layers_of_torch(dim: int, num_layers: int) -> Anatomy:
    shapes = {f"layers.{i}.0.weight": [dim, dim] for i in range(num_layers)}
    return oracle.anatomy(dim, num_layers) | {"state_dict": shapes, "every layer is a Block": num_layers == 0}


@instead_of(oracle.anatomy, "the network has only num_layers - 1 layers")
def one_less(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, max(0, num_layers - 1))


@instead_of(oracle.anatomy, "there is an extra layer from dim to 1, final")
def with_final(dim: int, num_layers: int) -> Anatomy:
    right = oracle.anatomy(dim, num_layers)
    shapes = {f"layers.{i}.weight": [dim, dim] for i in range(num_layers)} | {"final.weight": [1, dim]}
    kept = {"parameters": oracle.num_parameters(dim, num_layers) + dim, "dtypes": ["torch.float32"]}
    return right | kept | {"state_dict": shapes}


@instead_of(oracle.backward, "the weights receive no gradient: are they detached?")
def weights_detached(weights: Weights, x: Rows, grad_y: Rows) -> Grads:
    return [None for _ in weights], oracle.backward(weights, x, grad_y)[1]


@instead_of(oracle.backward, "only the last layer gets a gradient: is x detached between layers?")
def detached_between(weights: Weights, x: Rows, grad_y: Rows) -> Grads:
    return [*[None] * len(weights[:-1]), oracle.backward(weights, x, grad_y)[0][-1]], None


@instead_of(oracle.backward, "gradients also flow back where the ReLU returned 0")
def straight_through(weights: Weights, x: Rows, grad_y: Rows) -> Grads:
    grads: list[Array] = []
    for i, weight in reversed([*enumerate(weights)]):
        grads.insert(0, oracle.network(weights[:i], x).T @ grad_y)
        grad_y = grad_y @ weight.T
    return grads, grad_y


@instead_of(oracle.network, "the leading axes are flattened and not restored")
def rows_stay(weights: Weights, x: Float[Array, "... d"]) -> Rows:
    y = oracle.network(weights, x)
    return y.reshape(math.prod(y.shape[:-1]), y.shape[-1])


@instead_of(oracle.network, "another ReLU follows the last block, so x changes even without any layers")
def relu_at_the_end(weights: Weights, x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    return np.maximum(oracle.network(weights, x), 0.0)
