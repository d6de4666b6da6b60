"""Mistakes in the outputs, gradients and structure of a checkpointed network."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.activation_checkpointing import cost_mistakes, oracle
from reference.activation_checkpointing.cost_mistakes import list_starts
from torchkata import instead_of

SHARED = [cost_mistakes]
Weights: TypeAlias = Sequence[Float[Array, "d d"]]
X: TypeAlias = Float[Array, "batch d"]
Grads: TypeAlias = tuple[Sequence[Array], Array]
Relus: TypeAlias = Sequence[bool]  # whether each layer ends with a ReLU

ONE_BLOCK = "all layers share one weight, as if they were the same Block"
RELU_MISSING = "the ReLU is missing"
RELU_FIRST = "the ReLU comes before the matrix multiplication, not after it"
RELU_NOT_LAST = "the last layer of each segment has no ReLU"


@instead_of(oracle.applied, "the layers after the last full segment are skipped")
def whole_segments(num_layers: int, segment: int) -> list[int]:
    return [*range(num_layers // segment * segment)]


@instead_of(oracle.applied, "the first layer of each segment is also applied at the end of the previous segment")
def overlapping(num_layers: int, segment: int) -> list[int]:
    return [i for j in list_starts(num_layers, segment) for i in range(j, min(j + segment + 1, num_layers))]


@instead_of(oracle.applied, ONE_BLOCK)
def one_block(num_layers: int, segment: int) -> list[int]:
    return [num_layers - 1] * num_layers


@instead_of(oracle.anatomy, ONE_BLOCK)
def one_block_anatomy(dim: int, num_layers: int, segment: int) -> dict[str, object]:
    return oracle.anatomy(dim, num_layers, segment) | {"parameters": ["layers.0.weight"][:num_layers]}


@instead_of(oracle.anatomy, "the model does not register the layers' weights, as if layers were a plain list")
def plain_list(dim: int, num_layers: int, segment: int) -> dict[str, object]:
    return oracle.anatomy(dim, 0, segment)


@instead_of(
    oracle.anatomy, "layers contains segments, which contain the blocks, so every parameter name has an extra index"
)
def nested(dim: int, num_layers: int, segment: int) -> dict[str, object]:
    names = [f"layers.{i // segment}.{i % segment}.weight" for i in range(num_layers)]
    return {"state_dict": {name: [dim, dim] for name in names}, "parameters": names}


@instead_of(oracle.slope, "the backward pass ignores ReLU: gradients pass where its output is 0")
def no_slope(before_relu: X) -> X:
    return np.ones_like(before_relu)


@instead_of(oracle.forward, RELU_MISSING)
def linear(weights: Weights, x: X, segment: int) -> X:
    return run_forward(weights, x, [False for _ in weights])


@instead_of(oracle.backward, RELU_MISSING)
def linear_backward(weights: Weights, x: X, grad_y: X, segment: int) -> Grads:
    return run_backward(weights, x, grad_y, [False for _ in weights])


@instead_of(oracle.forward, RELU_NOT_LAST)
def linear_ends(weights: Weights, x: X, segment: int) -> X:
    return run_forward(weights, x, omit_segment_ends(len(weights), segment))


@instead_of(oracle.backward, RELU_NOT_LAST)
def linear_ends_backward(weights: Weights, x: X, grad_y: X, segment: int) -> Grads:
    return run_backward(weights, x, grad_y, omit_segment_ends(len(weights), segment))


@instead_of(oracle.forward, RELU_FIRST)
def relu_first(weights: Weights, x: X, segment: int) -> X:
    return run_forward(weights, np.maximum(x, 0), omit_last(weights)) if weights else x


@instead_of(oracle.backward, RELU_FIRST)
def relu_first_backward(weights: Weights, x: X, grad_y: X, segment: int) -> Grads:
    if not weights:
        return oracle.backward(weights, x, grad_y, segment)
    grads, grad_x = run_backward(weights, np.maximum(x, 0), grad_y, omit_last(weights))
    return grads, grad_x * oracle.slope(x)


@instead_of(
    oracle.backward,
    "every segment is recomputed with the layers of the last one (perhaps through late binding of a loop variable)",
)
def recomputed_with_the_last(weights: Weights, x: X, grad_y: X, segment: int) -> Grads:
    if not weights:
        return oracle.backward(weights, x, grad_y, segment)
    grads: list[Array] = []
    starts = [*list_starts(len(weights), segment)]
    again = weights[starts[-1] :]
    for start in reversed(starts):
        layer_input = oracle.forward(weights[:start], x, segment)
        own, grad_y = oracle.backward(again, layer_input, grad_y, segment)
        grads = [*own, *grads]
    return grads, grad_y


def run_forward(weights: Weights, x: X, relus: Relus) -> X:
    """Return the output of a network in which only some layers end with a ReLU."""
    for weight, relu in zip(weights, relus, strict=True):
        x = np.maximum(x @ weight, 0) if relu else x @ weight
    return x


def run_backward(weights: Weights, x: X, grad_y: X, relus: Relus) -> tuple[Sequence[Array], Array]:
    """Return the gradients of a network in which only some layers end with a ReLU."""
    grads: list[Array] = []
    for i in reversed(range(len(weights))):
        layer_input = run_forward(weights[:i], x, relus[:i])
        grad_z = grad_y * oracle.slope(layer_input @ weights[i]) if relus[i] else grad_y
        grads.insert(0, layer_input.T @ grad_z)
        grad_y = grad_z @ weights[i].T
    return grads, grad_y


def omit_last(weights: Weights) -> Relus:
    """Return the ReLU flags, with the last layer's flag set to False."""
    return [i < len(weights) - 1 for i in range(len(weights))]


def omit_segment_ends(num_layers: int, segment: int) -> Relus:
    """Return the ReLU flags, with the flag of each segment's last layer set to False."""
    return [(i + 1) % segment != 0 and i < num_layers - 1 for i in range(num_layers)]


@instead_of(oracle.best_segments, "returns the number of segments instead of their length")
def number_of_segments(num_layers: int, per_block: int) -> list[int]:
    best = oracle.best_segments(num_layers, per_block)
    numbers = [number for s in best for number in (num_layers // s, oracle.segments(num_layers, s))]
    return [*numbers, round((num_layers * per_block) ** 0.5)]


@instead_of(oracle.best_segments, "returns the number of activations instead of the segment length")
def fewest_activations(num_layers: int, per_block: int) -> list[int]:
    return [oracle.segments(num_layers, s) + per_block * s for s in oracle.best_segments(num_layers, per_block)]


@instead_of(oracle.best_segments, "ignores per_block")
def per_block_ignored(num_layers: int, per_block: int) -> list[int]:
    return oracle.best_segments(num_layers, 1)


@instead_of(oracle.best_segments, "rounds the number of segments down: a shorter last segment also keeps its input")
def segments_rounded_down(num_layers: int, per_block: int) -> list[int]:
    costs = {s: num_layers // s + per_block * s for s in range(1, num_layers + 1)}
    return [s for s, cost in costs.items() if cost == min(costs.values())]


@instead_of(oracle.best_segments, "considers only lengths that divide num_layers: the last segment may be shorter")
def divisors_only(num_layers: int, per_block: int) -> list[int]:
    costs = {s: num_layers // s + per_block * s for s in range(1, num_layers + 1) if num_layers % s == 0}
    return [s for s, cost in costs.items() if cost == min(costs.values())]


@instead_of(
    oracle.best_segments,
    "rounds √(num_layers / per_block) to the nearest integer, which is not always the best one: compare all lengths",
)
def root_rounded(num_layers: int, per_block: int) -> list[int]:
    return [max(1, round((num_layers / per_block) ** 0.5))]


@instead_of(oracle.best_segments, "rounds √(num_layers / per_block) down: compare all lengths")
def root_rounded_down(num_layers: int, per_block: int) -> list[int]:
    return [max(1, math.isqrt(num_layers // per_block))]


@instead_of(oracle.best_segments, "rounds √(num_layers / per_block) up: compare all lengths")
def root_rounded_up(num_layers: int, per_block: int) -> list[int]:
    return [-int(-((num_layers / per_block) ** 0.5) // 1)]
