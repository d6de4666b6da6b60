"""Probes of DeepNetworkCheckpointed: its numbers, what it keeps alive, and how much it computes."""

from typing import Any

import torch
from torch import Tensor

from .loading import load
from .operators import Operators


def loaded(assignment: Any, dim: int, weights: list[Tensor], segment: int) -> Any:
    """A network that holds these weights."""
    model = assignment.activation_checkpointing.DeepNetworkCheckpointed(dim, len(weights), segment)
    load(model, {f"layers.{i}.weight": weight for i, weight in enumerate(weights)})
    return model


def forward(assignment: Any, dim: int, weights: list[Tensor], segment: int, x: Tensor) -> object:
    """The outputs."""
    return loaded(assignment, dim, weights, segment)(x)


def gradients(
    assignment: Any, dim: int, weights: list[Tensor], segment: int, x: Tensor, grad_y: Tensor, asks: bool, times: int
) -> dict[str, object]:
    """What flows back to the weights and, if x `asks` for it, to x, in so many passes one after the other."""
    model = loaded(assignment, dim, weights, segment)
    x = x.clone().requires_grad_(asks)
    for _ in range(times):
        y = model(x)
        if y.requires_grad:
            (y * grad_y).sum().backward()
    return {"weights": [layer.weight.grad for layer in model.layers], "x": x.grad}


def anatomy(assignment: Any, dim: int, num_layers: int, segment: int) -> dict[str, object]:
    """What the network keeps, and whether its layers are distinct."""
    model = assignment.activation_checkpointing.DeepNetworkCheckpointed(dim, num_layers, segment)
    return {
        "state_dict": {key: list(value.shape) for key, value in model.state_dict().items()},
        "parameters": [name for name, _ in model.named_parameters()],
    }


def cost(assignment: Any, dim: int, num_layers: int, segment: int, rows: int, x_needs_grad: bool) -> dict[str, object]:
    """Activations alive and products of matrices, in those of one layer, of a forward and a backward pass.

    x needs a gradient or not.
    """
    model = assignment.activation_checkpointing.DeepNetworkCheckpointed(dim, num_layers, segment)
    x = torch.ones(rows, dim, requires_grad=x_needs_grad)
    activation, product = x.untyped_storage().nbytes(), rows * dim * dim
    with Operators([x], model.parameters()) as operators:
        y = model(x)
        kept, forward = operators.alive(), operators.multiplications
        if y.requires_grad:
            y.backward(torch.ones_like(x))
    return {
        "attached": y.requires_grad,
        "kept": kept / activation,
        "peak": operators.peak / activation,
        "forward": forward / product,
        "backward": (operators.multiplications - forward) / product,
    }


def evaluation(assignment: Any, dim: int, weights: list[Tensor], segment: int, x: Tensor) -> dict[str, object]:
    """The outputs under no_grad, and what they cost."""
    model = loaded(assignment, dim, weights, segment)
    with Operators([x], model.parameters()) as operators, torch.no_grad():
        y = model(x)
        kept = operators.alive()
    return {
        "y": y,
        "attached": y.requires_grad,
        "kept": kept / x.untyped_storage().nbytes(),
        "products": operators.multiplications / (x.numel() * dim),
    }
