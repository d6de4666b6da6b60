"""Mistakes in a deep linear model."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.cruncher import oracle
from torchkata import instead_of

Weights: TypeAlias = Sequence[Float[Array, "d k"]]
X: TypeAlias = Float[Array, "batch d"]
Y: TypeAlias = Float[Array, "*batch"]
Grads: TypeAlias = tuple[Sequence[Array | None], Array | None]
Anatomy: TypeAlias = dict[str, object]

COLUMN = "the last dimension, of size 1, is not squeezed"
SUMMED = "the rows are summed, so the output for a batch is a single number"
TORCHS_LAYERS = "in `layers`, each weight is transposed before the matmul, as in nn.Linear"
ONE_WEIGHT = "the layers share one weight"


def hidden(weights: Weights, x: X) -> X:
    """Return the input of the final layer."""
    for weight in weights[:-1]:
        x = x @ weight
    return x


def output(weights: Weights, x: X) -> Y:
    """Return the output of the final layer for the input `x`."""
    y: Y = (x @ weights[-1])[:, 0]
    return y


@instead_of(oracle.forward, COLUMN)
def column(weights: Weights, x: X) -> Y:
    return hidden(weights, x) @ weights[-1]


@instead_of(oracle.forward, "the first dimension is squeezed instead of the last")
def first_squeezed(weights: Weights, x: X) -> Y:
    y: Y = hidden(weights, x) @ weights[-1]
    return y[0] if len(y) == 1 else y


@instead_of(
    oracle.forward, "the output for a batch with one row has no dimension: squeeze(-1) removes only the last one"
)
def squeezed(weights: Weights, x: X) -> Y:
    return np.squeeze(oracle.forward(weights, x))


@instead_of(oracle.forward, SUMMED)
def summed(weights: Weights, x: X) -> Y:
    return (hidden(weights, x) @ weights[-1]).sum(0)


@instead_of(
    oracle.forward,
    "only final is applied; all layers are skipped (perhaps because an iterator over layers can be used only once)",
)
def only_final(weights: Weights, x: X) -> Y:
    return output(weights, x)


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "ReLU": lambda x: np.maximum(x, 0),
    "GELU": lambda x: x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))) / 2,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


@instead_of(oracle.forward, "a {name} follows each layer of `layers`", name=[*ACTIVATIONS])
def activation_between(weights: Weights, x: X, name: str) -> Y:
    for weight in weights[:-1]:
        x = ACTIVATIONS[name](x @ weight)
    return output(weights, x)


@instead_of(oracle.forward, "a ReLU comes before the final layer")
def relu_before_final(weights: Weights, x: X) -> Y:
    return output(weights, np.maximum(hidden(weights, x), 0))


@instead_of(oracle.forward, "a {name} follows the final layer", name=[*ACTIVATIONS])
def activation_at_the_end(weights: Weights, x: X, name: str) -> Y:
    return ACTIVATIONS[name](oracle.forward(weights, x))


@instead_of(oracle.forward, "the outputs of a batch are averaged to a single number")
def averaged(weights: Weights, x: X) -> Y:
    return np.asarray(oracle.forward(weights, x).sum() / max(1, len(x)))


@instead_of(oracle.forward, "in `layers`, each layer's input is added to its output, as in a residual connection")
def residual(weights: Weights, x: X) -> Y:
    for weight in weights[:-1]:
        x = x + x @ weight
    return output(weights, x)


@instead_of(
    oracle.forward,
    "the output of each layer of `layers` is divided by sqrt(dim): scale the initial weights instead",
)
def scaled(weights: Weights, x: X) -> Y:
    return oracle.forward(weights, x) / math.sqrt(x.shape[1]) ** (len(weights) - 1)


@instead_of(oracle.forward, "a layer norm follows each layer of `layers`")
def normalised(weights: Weights, x: X) -> Y:
    for weight in weights[:-1]:
        x = x @ weight
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return output(weights, x)


@instead_of(oracle.forward, "the batch mean is subtracted, so each row's output depends on the other rows")
def centred(weights: Weights, x: X) -> Y:
    return oracle.forward(weights, x - x.mean(0)) if len(x) else oracle.forward(weights, x)


@instead_of(oracle.forward, "the input of the final layer is summed instead of being passed to it")
def without_final(weights: Weights, x: X) -> Y:
    y: Y = hidden(weights, x).sum(1)
    return y


@instead_of(oracle.forward, "the last element of layers is skipped")
def last_left_out(weights: Weights, x: X) -> Y:
    return oracle.forward([*weights[:-1][:-1], weights[-1]], x)


@instead_of(oracle.forward, "the first layer is applied in place of every layer of `layers`")
def first_for_all(weights: Weights, x: X) -> Y:
    return oracle.forward([*[weights[0]] * (len(weights) - 1), weights[-1]], x)


@instead_of(oracle.forward, "of layers, only the last one has an effect: apply each one to the previous layer's output")
def all_see_the_input(weights: Weights, x: X) -> Y:
    return oracle.forward(weights[-2:], x)


@instead_of(oracle.forward, "the elements of `layers` are applied in reverse order")
def backwards(weights: Weights, x: X) -> Y:
    return oracle.forward([*reversed(weights[:-1]), weights[-1]], x)


@instead_of(oracle.forward, TORCHS_LAYERS)
def torchs_layers(weights: Weights, x: X) -> Y:
    return oracle.forward([*(weight.T for weight in weights[:-1]), weights[-1]], x)


@instead_of(oracle.backward, TORCHS_LAYERS)
def torchs_layers_backward(weights: Weights, x: X, grad_y: Y) -> Grads:
    grads, grad_x = oracle.backward([*(weight.T for weight in weights[:-1]), weights[-1]], x, grad_y)
    return [*(grad.T for grad in grads[:-1]), grads[-1]], grad_x


@instead_of(oracle.initial_stds, "in `layers`, the initial standard deviation is 1 / sqrt(3 · dim), as in nn.Linear")
def torchs_initialization(dim: int, num_layers: int) -> list[float]:
    *layers, final = oracle.initial_stds(dim, num_layers)
    return [*(std / math.sqrt(3) for std in layers), final]


@instead_of(oracle.forward, ONE_WEIGHT)
def one_weight(weights: Weights, x: X) -> Y:
    return oracle.forward([*(weights[-2] for _ in weights[1:]), weights[-1]], x)


@instead_of(oracle.anatomy, ONE_WEIGHT)
def one_weight_anatomy(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, num_layers) | {"parameters": oracle.num_parameters(dim, min(1, num_layers))}


@instead_of(oracle.anatomy, "a layer is created even for num_layers=0")
def at_least_one(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, max(1, num_layers))


@instead_of(oracle.anatomy, "one layer is missing: num_layers does not include final")
def one_less(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, max(0, num_layers - 1))


@instead_of(oracle.anatomy, "the final layer is the last element of layers; it should be the attribute final")
def final_among_layers(dim: int, num_layers: int) -> Anatomy:
    shapes = {f"layers.{i}.weight": [dim, dim] for i in range(num_layers)} | {f"layers.{num_layers}.weight": [dim, 1]}
    return oracle.anatomy(dim, num_layers) | {"state_dict": shapes}


@instead_of(oracle.anatomy, "layers is not an nn.ModuleList, and its weights are not registered, as in a plain list")
def plain_list(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, 0) | {"layers is an nn.ModuleList": False}


@instead_of(oracle.anatomy, "layers is not an nn.ModuleList, but another container, such as an nn.Sequential")
def other_container(dim: int, num_layers: int) -> Anatomy:
    return oracle.anatomy(dim, num_layers) | {"layers is an nn.ModuleList": False}


@instead_of(oracle.anatomy, "layers holds bare Parameters, not Linear modules")
def bare_parameters(dim: int, num_layers: int) -> Anatomy:
    shapes = {f"layers.{i}": [dim, dim] for i in range(num_layers)} | {"final.weight": [dim, 1]}
    return oracle.anatomy(dim, num_layers) | {"state_dict": shapes, "layers is an nn.ModuleList": False}


@instead_of(oracle.anatomy, "final.weight has the shape (1, dim), as in an nn.Linear, instead of (dim, 1)")
def torchs_final(dim: int, num_layers: int) -> Anatomy:
    shapes = {f"layers.{i}.weight": [dim, dim] for i in range(num_layers)} | {"final.weight": [1, dim]}
    return oracle.anatomy(dim, num_layers) | {"state_dict": shapes}


@instead_of(oracle.backward, "no gradient flows past the last element of layers: is x detached between layers?")
def detached_between(weights: Weights, x: X, grad_y: Y) -> Grads:
    grads, grad_x = oracle.backward(weights, x, grad_y)
    return [*[None] * len(grads[:-2]), *grads[-2:]], None if len(grads) > 1 else grad_x


@instead_of(oracle.backward, "no gradient reaches the input")
def input_detached(weights: Weights, x: X, grad_y: Y) -> Grads:
    return oracle.backward(weights, x, grad_y)[0], None


@instead_of(oracle.backward, "gradients reach only the final weight")
def layers_frozen(weights: Weights, x: X, grad_y: Y) -> Grads:
    grads, grad_x = oracle.backward(weights, x, grad_y)
    return [*[None] * len(grads[:-1]), grads[-1]], None if len(grads) > 1 else grad_x


@instead_of(oracle.backward, "no gradient flows past the final layer: is its input detached?")
def final_input_detached(weights: Weights, x: X, grad_y: Y) -> Grads:
    grads, _ = oracle.backward(weights, x, grad_y)
    return [*[None] * len(grads[:-1]), grads[-1]], None


@instead_of(oracle.backward, "no gradient reaches the final weight")
def final_detached(weights: Weights, x: X, grad_y: Y) -> Grads:
    grads, grad_x = oracle.backward(weights, x, grad_y)
    return [*grads[:-1], None], grad_x


@instead_of(oracle.backward, "no gradient reaches the second layer")
def second_frozen(weights: Weights, x: X, grad_y: Y) -> Grads:
    grads, grad_x = oracle.backward(weights, x, grad_y)
    return [None if i == 1 and len(grads) > 2 else grad for i, grad in enumerate(grads)], grad_x


@instead_of(oracle.initial_stds, "the final weight is initialized to zero")
def final_at_zero(dim: int, num_layers: int) -> list[float]:
    return [*oracle.initial_stds(dim, num_layers)[:-1], 0.0]


@instead_of(
    oracle.initial_stds,
    "in `layers`, the initial standard deviation is {std:g}: leave the initialization to Linear",
    std=[0.01, 0.02, 0.1, 1.0],
)
def initialized_again(dim: int, num_layers: int, std: float) -> list[float]:
    return [std] * num_layers + oracle.initial_stds(dim, num_layers)[-1:]


@instead_of(
    oracle.initial_stds,
    "the initial standard deviation of every layer is {std:g}: leave the initialization to Linear",
    std=[0.01, 0.02, 0.1, 1.0],
)
def all_initialized_again(dim: int, num_layers: int, std: float) -> list[float]:
    return [std] * (num_layers + 1)


@instead_of(oracle.initial_stds, "in `layers`, deeper layers are initialized with smaller weights")
def smaller_with_depth(dim: int, num_layers: int) -> list[float]:
    *layers, final = oracle.initial_stds(dim, num_layers)
    return [*(std / (i + 1) for i, std in enumerate(layers)), final]
