"""Probes of DeepNetworkCheckpointed: its numbers, what it keeps alive, and how much it computes."""

from typing import Any

import torch
from torch import Tensor

from torchkata import typed

from .loading import load, typed_load
from .operators import Operators


def loaded(assignment: Any, dim: int, weights: list[Tensor], segment: int) -> Any:
    """A network that holds these weights."""
    model = assignment.activation_checkpointing.DeepNetworkCheckpointed(dim, len(weights), segment)
    load(model, {f"layers.{i}.weight": weight for i, weight in enumerate(weights)})
    return model


def typed_model(dim: int, weights: list[Tensor], segment: int) -> str:
    """What makes a network that holds these weights, as it is typed."""
    keys = [f"layers.{i}.weight" for i in range(len(weights))]
    made = f"model = DeepNetworkCheckpointed({dim}, {len(weights)}, {segment})"
    return f"{made}\n{typed_load('model', keys)}"


@typed(lambda dim, weights, segment: f"{typed_model(dim, weights, segment)}\nmodel(x)")
def forward(assignment: Any, dim: int, weights: list[Tensor], segment: int, x: Tensor) -> object:
    """The outputs."""
    return loaded(assignment, dim, weights, segment)(x)


@typed(
    lambda dim, weights, segment, asks, times: "\n".join(
        [
            typed_model(dim, weights, segment),
            *["x.requires_grad_()"] * asks,
            *["(model(x) * grad_y).sum().backward()"] * times,
            "[p.grad for p in model.parameters()], x.grad",
        ]
    )
)
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
    return {"weights": [layer.weight.grad for layer in model.layers], "x": x.grad, "x asks": x.requires_grad}


@typed("model = DeepNetworkCheckpointed(dim, num_layers, segment)\nmodel.state_dict()")
def anatomy(assignment: Any, dim: int, num_layers: int, segment: int) -> dict[str, object]:
    """What the network keeps, and whether its layers are distinct."""
    model = assignment.activation_checkpointing.DeepNetworkCheckpointed(dim, num_layers, segment)
    return {
        "state_dict": {key: list(value.shape) for key, value in model.state_dict().items()},
        "parameters": [name for name, _ in model.named_parameters()],
    }


@typed(
    lambda dim, num_layers, segment, rows, x_needs_grad: "\n".join(
        [
            f"model = DeepNetworkCheckpointed({dim}, {num_layers}, {segment})",
            f"x = torch.ones({rows}, {dim}{', requires_grad=True' * x_needs_grad})",
            "model(x).sum().backward()",
        ]
    )
)
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


@typed(
    lambda dim, weights, segment: "\n".join(
        [typed_model(dim, weights, segment), "with torch.no_grad():", "    model(x)"]
    )
)
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
