"""Mistakes in activation checkpointing: in outputs and gradients, and in how the network is put together."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.activation_checkpointing import oracle
from reference.activation_checkpointing.cost_mistakes import *  # noqa: F403
from reference.activation_checkpointing.cost_mistakes import starts
from torchkata import instead_of

Weights: TypeAlias = Sequence[Float[Array, "d d"]]
X: TypeAlias = Float[Array, "batch d"]
Grads: TypeAlias = tuple[Sequence[Array], Array]
Relus: TypeAlias = Sequence[bool]  # which layers end with ReLU

ONE_BLOCK = "all layers are one and the same Block: they share a weight"
RELU_MISSING = "the ReLU is missing"
RELU_FIRST = "the ReLU comes before the product, not after it"
RELU_NOT_LAST = "the last layer of each segment ends without ReLU"


@instead_of(oracle.applied, "the layers after the last whole segment are left out")
def whole_segments(num_layers: int, segment: int) -> list[int]:
    return [*range(num_layers // segment * segment)]


@instead_of(oracle.applied, "the first layer of each segment is applied at the end of the one before it, too")
def overlapping(num_layers: int, segment: int) -> list[int]:
    return [i for j in starts(num_layers, segment) for i in range(j, min(j + segment + 1, num_layers))]


@instead_of(oracle.applied, ONE_BLOCK)
def one_block(num_layers: int, segment: int) -> list[int]:
    return [num_layers - 1] * num_layers


@instead_of(oracle.anatomy, ONE_BLOCK)
def one_block_kept(dim: int, num_layers: int, segment: int) -> dict[str, object]:
    return oracle.anatomy(dim, num_layers, segment) | {"parameters": ["layers.0.weight"][:num_layers]}


@instead_of(oracle.anatomy, "layers is a plain list: the model does not know of them")
def plain_list(dim: int, num_layers: int, segment: int) -> dict[str, object]:
    return oracle.anatomy(dim, 0, segment)


@instead_of(oracle.anatomy, "layers holds segments, which hold the blocks: each name has a number too many")
def nested(dim: int, num_layers: int, segment: int) -> dict[str, object]:
    names = [f"layers.{i // segment}.{i % segment}.weight" for i in range(num_layers)]
    return {"state_dict": {name: [dim, dim] for name in names}, "parameters": names}


@instead_of(oracle.kept, "the graph ends between segments: only the last one's weights get a gradient")
def last_input_kept(num_layers: int, segment: int) -> int:
    return min(2, oracle.segments(num_layers, segment))


@instead_of(oracle.slope, "the backward pass forgets ReLU: the gradient goes on where its output is 0")
def no_slope(before_relu: X) -> X:
    return np.ones_like(before_relu)


@instead_of(oracle.forward, RELU_MISSING)
def linear(weights: Weights, x: X, segment: int) -> X:
    return forward_with(weights, x, [False for _ in weights])


@instead_of(oracle.backward, RELU_MISSING)
def linear_backward(weights: Weights, x: X, grad_y: X, segment: int) -> Grads:
    return backward_with(weights, x, grad_y, [False for _ in weights])


@instead_of(oracle.forward, RELU_NOT_LAST)
def linear_ends(weights: Weights, x: X, segment: int) -> X:
    return forward_with(weights, x, within_segments(len(weights), segment))


@instead_of(oracle.backward, RELU_NOT_LAST)
def linear_ends_backward(weights: Weights, x: X, grad_y: X, segment: int) -> Grads:
    return backward_with(weights, x, grad_y, within_segments(len(weights), segment))


@instead_of(oracle.forward, RELU_FIRST)
def relu_first(weights: Weights, x: X, segment: int) -> X:
    return forward_with(weights, np.maximum(x, 0), all_but_last(weights)) if weights else x


@instead_of(oracle.backward, RELU_FIRST)
def relu_first_backward(weights: Weights, x: X, grad_y: X, segment: int) -> Grads:
    if not weights:
        return oracle.backward(weights, x, grad_y, segment)
    grads, grad_x = backward_with(weights, np.maximum(x, 0), grad_y, all_but_last(weights))
    return grads, grad_x * oracle.slope(x)


@instead_of(oracle.backward, "every segment is run again with the last one's layers: they are looked up too late")
def run_again_with_the_last(weights: Weights, x: X, grad_y: X, segment: int) -> Grads:
    if not weights:
        return oracle.backward(weights, x, grad_y, segment)
    grads: list[Array] = []
    begins = [*starts(len(weights), segment)]
    again = weights[begins[-1] :]
    for start in reversed(begins):
        layer_input = oracle.forward(weights[:start], x, segment)
        own, grad_y = oracle.backward(again, layer_input, grad_y, segment)
        grads = [*own, *grads]
    return grads, grad_y


def forward_with(weights: Weights, x: X, relus: Relus) -> X:
    """A network where only some layers end with ReLU."""
    for weight, relu in zip(weights, relus, strict=True):
        x = np.maximum(x @ weight, 0) if relu else x @ weight
    return x


def backward_with(weights: Weights, x: X, grad_y: X, relus: Relus) -> tuple[Sequence[Array], Array]:
    """Its gradients."""
    grads: list[Array] = []
    for i in reversed(range(len(weights))):
        layer_input = forward_with(weights[:i], x, relus[:i])
        grad_z = grad_y * oracle.slope(layer_input @ weights[i]) if relus[i] else grad_y
        grads.insert(0, layer_input.T @ grad_z)
        grad_y = grad_z @ weights[i].T
    return grads, grad_y


def all_but_last(weights: Weights) -> Relus:
    """The last layer ends without."""
    return [i < len(weights) - 1 for i in range(len(weights))]


def within_segments(num_layers: int, segment: int) -> Relus:
    """The last layer of each segment ends without."""
    return [(i + 1) % segment != 0 and i < num_layers - 1 for i in range(num_layers)]
