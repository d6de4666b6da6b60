"""Probes for DeepNetworkCheckpointed: outputs, gradients, memory and computation."""

from typing import Any

import torch
from torch import Tensor

from torchkata import typed

from .loading import load, typed_load
from .operators import Operators


def build_model(assignment: Any, dim: int, weights: list[Tensor], segment: int) -> Any:
    """Build a network with the given weights."""
    model = assignment.activation_checkpointing.DeepNetworkCheckpointed(dim, len(weights), segment)
    load(model, {f"layers.{i}.weight": weight for i, weight in enumerate(weights)})
    return model


def typed_model(dim: int, weights: list[Tensor], segment: int) -> str:
    """Return the code that builds a network with the given weights."""
    keys = [f"layers.{i}.weight" for i in range(len(weights))]
    return f"model = DeepNetworkCheckpointed({dim}, {len(weights)}, {segment})\n{typed_load('model', keys)}"


@typed(lambda dim, weights, segment: f"{typed_model(dim, weights, segment)}\nmodel(x)")
def forward(assignment: Any, dim: int, weights: list[Tensor], segment: int, x: Tensor) -> object:
    """Return the outputs of the network."""
    return build_model(assignment, dim, weights, segment)(x)


@typed(
    lambda dim, weights, segment, x_needs_grad, times: "\n".join(
        [
            typed_model(dim, weights, segment),
            *["x.requires_grad_()"] * x_needs_grad,
            *["(model(x) * grad_y).sum().backward()"] * times,
            "[p.grad for p in model.parameters()], x.grad",
        ]
    )
)
def gradients(
    assignment: Any,
    dim: int,
    weights: list[Tensor],
    segment: int,
    x: Tensor,
    grad_y: Tensor,
    x_needs_grad: bool,
    times: int,
) -> dict[str, object]:
    """Return the gradients of the weights and of x after `times` forward and backward passes."""
    model = build_model(assignment, dim, weights, segment)
    x, y = x.clone().requires_grad_(x_needs_grad), x
    for _ in range(times):
        y = model(x)
        if y.requires_grad:
            (y * grad_y).sum().backward()
    return {
        "attached": y.requires_grad,
        "weights": [layer.weight.grad for layer in model.layers],
        "x": x.grad,
        "x.requires_grad": x.requires_grad,
    }


@typed("model = DeepNetworkCheckpointed(dim, num_layers, segment)\nmodel.state_dict()")
def anatomy(assignment: Any, dim: int, num_layers: int, segment: int) -> dict[str, object]:
    """Return the shapes in `state_dict` and the names of the distinct parameters."""
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
            "from tests.probes.operators import Operators",
            "with Operators([x], model.parameters()) as operators:",
            "    model(x).sum().backward()",
            "operators.peak, operators.multiplications",
        ]
    )
)
def cost(assignment: Any, dim: int, num_layers: int, segment: int, rows: int, x_needs_grad: bool) -> dict[str, object]:
    """Measure a forward and a backward pass: the number of activations in memory, and the number of matmuls."""
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
        "reached": all(p.grad is not None for p in model.parameters()),
        "kept": kept / activation,
        "peak": operators.peak / activation,
        "forward": forward / product,
        "backward": (operators.multiplications - forward) / product,
    }


@typed(
    lambda dim, weights, segment: f"{typed_model(dim, weights, segment)}\nwith torch.no_grad():\n    y = model(x)\ny"
)
def evaluation(assignment: Any, dim: int, weights: list[Tensor], segment: int, x: Tensor) -> dict[str, object]:
    """Return the outputs under `torch.no_grad()`, the number of activations in memory, and the number of matmuls."""
    model = build_model(assignment, dim, weights, segment)
    with Operators([x], model.parameters()) as operators, torch.no_grad():
        y = model(x)
        kept = operators.alive()
    return {
        "y": y,
        "attached": y.requires_grad,
        "kept": kept / x.untyped_storage().nbytes(),
        "products": operators.multiplications / (x.numel() * dim),
    }
