"""A deep network of ReLU layers, and what it keeps and computes again when only segments' inputs are kept."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def products(weights: Sequence[Float[Array, "d d"]], x: Float[Array, "batch d"]) -> list[Float[Array, "batch d"]]:
    """What goes into each ReLU."""
    before_relu: list[Array] = []
    for weight in weights:
        before_relu.append(x @ weight)
        x = np.maximum(before_relu[-1], 0)
    return before_relu


def slope(before_relu: Float[Array, "batch d"]) -> Float[Array, "batch d"]:
    """The derivative of ReLU."""
    return np.where(before_relu > 0, 1.0, 0.0)


def forward(
    weights: Sequence[Float[Array, "d d"]],
    x: Float[Array, "batch d"],
    segment: int,  # noqa: ARG001  (a mistake goes by it, as below)
) -> Float[Array, "batch d"]:
    """`relu(… relu(relu(x @ W₀) @ W₁) …)`."""
    return np.maximum(products(weights, x)[-1], 0) if weights else x


def backward(
    weights: Sequence[Float[Array, "d d"]],
    x: Float[Array, "batch d"],
    grad_y: Float[Array, "batch d"],
    segment: int,  # noqa: ARG001
) -> tuple[list[Float[Array, "d d"]], Float[Array, "batch d"]]:
    """Gradients of `sum(grad_y * forward(weights, x))` with respect to each weight and to x."""
    before_relu = products(weights, x)
    inputs = [x, *(np.maximum(z, 0) for z in before_relu)][:-1]
    grads: list[Array] = []
    for weight, z, layer_input in zip(reversed(weights), reversed(before_relu), reversed(inputs), strict=True):
        grad_z = grad_y * slope(z)
        grads.insert(0, layer_input.T @ grad_z)
        grad_y = grad_z @ weight.T
    return grads, grad_y


def anatomy(dim: int, num_layers: int, segment: int) -> dict[str, object]:  # noqa: ARG001
    """What the network keeps: shapes by name, and the names of its parameters."""
    names = [f"layers.{i}.weight" for i in range(num_layers)]
    return {"state_dict": {name: [dim, dim] for name in names}, "parameters": names}


def applied(num_layers: int, segment: int) -> list[int]:  # noqa: ARG001
    """The layers that are applied, in order."""
    return [*range(num_layers)]


def in_forward(num_layers: int, segment: int) -> int:
    """Products of matrices in a forward pass."""
    return len(applied(num_layers, segment))


def segments(num_layers: int, segment: int) -> int:
    """How many segments there are."""
    return -(-num_layers // segment)


def kept(num_layers: int, segment: int) -> int:
    """Activations alive after the forward pass: the inputs of all segments but the first, and the output."""
    return segments(num_layers, segment)


def alive_in_backward(num_layers: int, segment: int) -> tuple[int, int]:
    """The fewest and the most activations alive at once: the kept, both sides of a segment's ReLUs, a few gradients."""
    return 0, segments(num_layers, segment) + 2 * segment + 6


def recomputed(num_layers: int, segment: int) -> tuple[int, int]:
    """The fewest and the most products computed again: who keeps a segment's output needs not compute its last one."""
    return num_layers - segments(num_layers, segment), num_layers
