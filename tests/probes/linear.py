"""Probes of Linear."""

from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .loading import load


def loaded(assignment: Any, weight: Tensor) -> Any:
    """A layer of this dtype that holds `weight`."""
    layer = assignment.linear.Linear(*weight.shape).to(weight.dtype)
    load(layer, {"weight": weight})
    return layer


def typed_layer(weight: Tensor) -> str:
    """What makes it, as it is typed."""
    cast = "" if weight.dtype == torch.float32 else f".to({weight.dtype})"
    return f"layer = Linear{tuple(weight.shape)}{cast}\nlayer.load_state_dict({{'weight': weight}})"


@typed(lambda weight: f"{typed_layer(weight)}\nlayer(x)")
def forward(assignment: Any, weight: Tensor, x: Tensor) -> object:
    """`Linear(x)` with a given weight."""
    return loaded(assignment, weight)(x)


@typed(
    lambda weight, x: "\n".join(
        [
            typed_layer(weight),
            "x = x.mT.contiguous().mT.requires_grad_()" if x.ndim > 1 else "x.requires_grad_()",
            "(layer(x) * grad_y).sum().backward()",
            "layer.weight.grad, x.grad",
        ]
    )
)
def gradients(assignment: Any, weight: Tensor, x: Tensor, grad_y: Tensor) -> dict[str, object]:
    """What flows back to the weight and to x, which lies in memory column by column."""
    layer = loaded(assignment, weight)
    x = (x.mT.clone(memory_format=torch.contiguous_format).mT if x.ndim > 1 else x.clone()).requires_grad_()
    (layer(x) * grad_y).sum().backward()
    return {"weight": layer.weight.grad, "x": x.grad}


@typed("layer = Linear(input_dim, output_dim)\nlayer.weight, layer.state_dict()")
def anatomy(assignment: Any, input_dim: int, output_dim: int) -> dict[str, object]:
    """What the layer keeps."""
    layer = assignment.linear.Linear(input_dim, output_dim)
    weight = getattr(layer, "weight", None)
    return {
        "state_dict": {key: list(value.shape) for key, value in layer.state_dict().items()},
        "dtype": str(getattr(weight, "dtype", None)),
        "parameters": [name for name, _ in layer.named_parameters()],
        "weight is an nn.Parameter": isinstance(weight, nn.Parameter) and weight.requires_grad,
    }


@typed("torch.manual_seed(seed)\n[Linear(input_dim, output_dim).weight for _ in range(layers)]")
def initial_weights(assignment: Any, input_dim: int, output_dim: int, layers: int, seed: int) -> list[object]:
    """The weights of new layers, built one after the other."""
    torch.default_generator.manual_seed(seed)
    return [assignment.linear.Linear(input_dim, output_dim).weight for _ in range(layers)]
