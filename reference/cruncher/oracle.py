"""Computes a deep linear model's output, gradients, parameters and initialization."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.linear import oracle as linear


def forward(weights: Sequence[Float[Array, "d k"]], x: Float[Array, "batch d"]) -> Float[Array, "batch"]:
    """Return `x @ W₀ @ W₁ … @ w`, one number per row."""
    for weight in weights:
        x = x @ weight
    return x[:, 0]


def backward(
    weights: Sequence[Float[Array, "d k"]], x: Float[Array, "batch d"], grad_y: Float[Array, "batch"]
) -> tuple[list[Float[Array, "d k"]], Float[Array, "batch d"]]:
    """Return the gradients of `sum(grad_y * forward(weights, x))` with respect to each weight and to x."""
    inputs = [x]
    for weight in weights[:-1]:
        inputs.append(inputs[-1] @ weight)
    grad: Array = grad_y[:, np.newaxis]
    grads: list[Array] = []
    for weight, layer_input in zip(reversed(weights), reversed(inputs), strict=True):
        grads.insert(0, layer_input.T @ grad)
        grad = grad @ weight.T
    return grads, grad


def num_parameters(dim: int, num_layers: int) -> int:
    """Return `dim² · num_layers + dim`."""
    return dim * dim * num_layers + dim


def anatomy(dim: int, num_layers: int) -> dict[str, object]:
    """Return the shapes in `state_dict`, the number of parameters, and whether `layers` is an `nn.ModuleList`."""
    shapes = {f"layers.{i}.weight": [dim, dim] for i in range(num_layers)} | {"final.weight": [dim, 1]}
    return {
        "state_dict": shapes,
        "parameters": num_parameters(dim, num_layers),
        "layers is an nn.ModuleList": True,
    }


def initial_stds(dim: int, num_layers: int) -> list[float]:
    """Return the initial standard deviation of each weight, with that of the final layer last."""
    return [linear.initial_std(dim, dim)] * num_layers + [linear.initial_std(dim, 1)]
