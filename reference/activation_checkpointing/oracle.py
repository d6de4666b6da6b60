"""Computes the outputs and gradients of a deep ReLU network, and the memory and compute cost of checkpointing it."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def products(weights: Sequence[Float[Array, "d d"]], x: Float[Array, "batch d"]) -> list[Float[Array, "batch d"]]:
    """Return the input of each ReLU."""
    before_relu: list[Array] = []
    for weight in weights:
        before_relu.append(x @ weight)
        x = np.maximum(before_relu[-1], 0)
    return before_relu


def slope(before_relu: Float[Array, "batch d"]) -> Float[Array, "batch d"]:
    """Return the derivative of ReLU."""
    return np.where(before_relu > 0, 1.0, 0.0)


def forward(
    weights: Sequence[Float[Array, "d d"]],
    x: Float[Array, "batch d"],
    segment: int,  # noqa: ARG001  (mistakes use it, here and below)
) -> Float[Array, "batch d"]:
    """Return `relu(… relu(relu(x @ W₀) @ W₁) …)`."""
    return np.maximum(products(weights, x)[-1], 0) if weights else x


def backward(
    weights: Sequence[Float[Array, "d d"]],
    x: Float[Array, "batch d"],
    grad_y: Float[Array, "batch d"],
    segment: int,  # noqa: ARG001
) -> tuple[list[Float[Array, "d d"]], Float[Array, "batch d"]]:
    """Return the gradients of `sum(grad_y * forward(weights, x))` with respect to each weight and to x."""
    before_relu = products(weights, x)
    inputs = [x, *(np.maximum(z, 0) for z in before_relu)][:-1]
    grads: list[Array] = []
    for weight, z, layer_input in zip(reversed(weights), reversed(before_relu), reversed(inputs), strict=True):
        grad_z = grad_y * slope(z)
        grads.insert(0, layer_input.T @ grad_z)
        grad_y = grad_z @ weight.T
    return grads, grad_y


def anatomy(dim: int, num_layers: int, segment: int) -> dict[str, object]:  # noqa: ARG001
    """Return the shapes in `state_dict` and the names of the parameters."""
    names = [f"layers.{i}.weight" for i in range(num_layers)]
    return {"state_dict": {name: [dim, dim] for name in names}, "parameters": names}


def applied(num_layers: int, segment: int) -> list[int]:  # noqa: ARG001
    """Return the indices of the layers that are applied, in order."""
    return [*range(num_layers)]


def in_forward(num_layers: int, segment: int) -> int:
    """Return the number of matmuls in a forward pass."""
    return len(applied(num_layers, segment))


def segments(num_layers: int, segment: int) -> int:
    """Return the number of segments."""
    return -(-num_layers // segment)


def kept(
    num_layers: int,
    segment: int,
    x_needs_grad: bool = True,  # noqa: ARG001  (a mistake uses it)
) -> int:
    """Count the activations saved by the forward pass: the inputs of all segments but the first, and the output."""
    return segments(num_layers, segment)


def alive_in_backward(num_layers: int, segment: int) -> tuple[int, int]:
    """Return bounds on peak memory: saved activations, inputs and outputs of a segment's ReLUs, and a few gradients."""
    return 0, segments(num_layers, segment) + 2 * segment + 6


def recomputed(num_layers: int, segment: int) -> tuple[int, int]:
    """Return bounds on the number of recomputed matmuls. A segment's last matmul is optional if its output is saved."""
    return num_layers - segments(num_layers, segment), num_layers


def best_segments(num_layers: int, per_block: int) -> list[int]:
    """Return all segment lengths that keep the fewest activations in memory."""
    lengths = range(1, num_layers + 1)
    costs = [segments(num_layers, segment) + per_block * segment for segment in lengths]
    return [segment for segment, cost in zip(lengths, costs, strict=True) if cost == min(costs)]
