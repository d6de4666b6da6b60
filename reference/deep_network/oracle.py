"""Oracle for deep_network: outputs, gradients and initialization."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def relu(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Replace negative elements with 0."""
    positive: Array = np.maximum(z, 0.0)
    return positive


def block(weight: Float[Array, "d d"], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """Return `relu(x @ weight)`."""
    return relu(x @ weight)


def network(weights: Sequence[Float[Array, "d d"]], x: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """Apply one block for each weight, in order."""
    for weight in weights:
        x = block(weight, x)
    return x


def backward(
    weights: Sequence[Float[Array, "d d"]], x: Float[Array, "row d"], grad_y: Float[Array, "row d"]
) -> tuple[list[Float[Array, "d d"]], Float[Array, "row d"]]:
    """Return the gradients of `sum(grad_y * network(weights, x))` with respect to each weight and to x.

    The gradient is 0 where a block's output is 0.
    """
    inputs = [network(weights[:i], x) for i in range(len(weights))]
    grads: list[Array] = []
    grad = grad_y
    for weight, layer_input in zip(reversed(weights), reversed(inputs), strict=True):
        grad = grad * (layer_input @ weight > 0)
        grads.insert(0, layer_input.T @ grad)
        grad = grad @ weight.T
    return grads, grad


def num_parameters(dim: int, num_layers: int) -> int:
    """Return `dim² · num_layers`."""
    return dim * dim * num_layers


def anatomy(dim: int, num_layers: int) -> dict[str, object]:
    """Return the number, shapes and dtypes of a network's parameters, and the types of its modules."""
    return {
        "parameters": num_parameters(dim, num_layers),
        "state_dict": {f"layers.{i}.weight": [dim, dim] for i in range(num_layers)},
        "dtypes": ["torch.float32"] * min(1, num_layers),
        "layers is an nn.ModuleList": True,
        "every layer is a Block": True,
    }


def initial_std(dim: int) -> float:
    """Return the initial standard deviation of a weight."""
    return float(1 / np.sqrt(dim))


def initial_stds(dim: int, num_layers: int) -> list[float]:
    """Return the initial standard deviation of each layer's weight."""
    return [initial_std(dim)] * num_layers
