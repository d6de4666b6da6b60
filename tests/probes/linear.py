"""Probes for Linear."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .default_dtype import default_dtype
from .loading import find_weights, load_by_shape, run_converted


def build_layer(assignment: Any, weight: Tensor) -> Any:
    """Return a layer with the given weight and the same dtype."""
    layer = assignment.linear.Linear(*weight.shape).to(weight.dtype)
    load_by_shape(layer, {"weight": weight.T if is_transposed(assignment) else weight})
    return layer


def is_transposed(assignment: Any) -> bool:
    """Return whether a layer stores its weight as (output_dim, input_dim), which only one test is about."""
    shapes = [list(value.shape) for value in assignment.linear.Linear(2, 3).state_dict().values()]
    return [3, 2] in shapes and [2, 3] not in shapes


def find_weight(layer: Any, shape: Sequence[int], transposed: bool) -> Any:
    """Return the weight of a layer, whatever its name."""
    if (weight := getattr(layer, "weight", None)) is not None:
        return weight
    (found,) = find_weights(layer, {"weight": shape[::-1] if transposed else shape})
    return found


def layer_code(weight: Tensor) -> str:
    """Return the code that builds a layer with the given weight."""
    cast = "" if weight.dtype == torch.float32 else f".to({weight.dtype})"
    return f"layer = Linear{tuple(weight.shape)}{cast}\nlayer.load_state_dict({{'weight': weight}})"


@typed(lambda weight: f"{layer_code(weight)}\nlayer(x)")
def forward(assignment: Any, weight: Tensor, x: Tensor) -> object:
    """Return the output of a layer with the given weight."""
    return run_converted(build_layer(assignment, weight), x)


@typed(
    lambda weight, x: "\n".join(
        [
            layer_code(weight),
            "x = x.mT.contiguous().mT.requires_grad_()" if x.ndim > 1 else "x.requires_grad_()",
            "(layer(x) * grad_y).sum().backward()",
            "layer.weight.grad, x.grad",
        ]
    )
)
def gradients(assignment: Any, weight: Tensor, x: Tensor, grad_y: Tensor) -> dict[str, object]:
    """Return the output, the gradients of the weight and of x (column-major), and if the weight requires grad."""
    layer = build_layer(assignment, weight)
    x = (x.mT.clone(memory_format=torch.contiguous_format).mT if x.ndim > 1 else x.clone()).requires_grad_()
    y: Any = run_converted(layer, x)
    (y * grad_y).sum().backward()
    transposed = is_transposed(assignment)
    own = find_weight(layer, weight.shape, transposed)
    grad = own.grad.T if transposed and own.grad is not None else own.grad
    return {"y": y, "weight": grad, "x": x.grad, "requires grad": own.requires_grad}


@typed(
    "\n".join(
        [
            "torch.set_default_dtype(getattr(torch, dtype))",
            "layer = Linear(input_dim, output_dim)",
            "torch.set_default_dtype(torch.float32)",
            "shapes = {key: [*value.shape] for key, value in layer.state_dict().items()}",
            "type(layer.weight), layer.weight.requires_grad, layer.weight.dtype, shapes",
        ]
    )
)
def anatomy(assignment: Any, input_dim: int, output_dim: int, dtype: str) -> dict[str, object]:
    """Return a new layer's parameters, state and weight, and whether this is a Parameter (None if missing)."""
    with default_dtype(dtype):
        layer = assignment.linear.Linear(input_dim, output_dim)
    weight: Any = getattr(layer, "weight", None)
    return {
        "state_dict": {key: list(value.shape) for key, value in layer.state_dict().items()},
        "dtype": str(getattr(weight, "dtype", None)),
        "type": type(weight).__name__,
        "requires grad": getattr(weight, "requires_grad", None) is True,
        "parameters": [name for name, _ in layer.named_parameters()],
        "weight is an nn.Parameter": None
        if weight is None
        else isinstance(weight, nn.Parameter) and weight.requires_grad,
    }


@typed("torch.manual_seed(seed)\n[Linear(input_dim, output_dim).weight for _ in range(layers)]")
def initial_weights(assignment: Any, input_dim: int, output_dim: int, layers: int, seed: int) -> list[object]:
    """Return the weights of layers that are built in succession."""
    torch.default_generator.manual_seed(seed)
    built = [assignment.linear.Linear(input_dim, output_dim) for _ in range(layers)]
    if all(hasattr(layer, "weight") and not isinstance(layer.weight, Tensor) for layer in built):
        return [layer.weight for layer in built]
    transposed = is_transposed(assignment)
    weights = [find_weight(layer, [input_dim, output_dim], transposed) for layer in built]
    return [weight.T for weight in weights] if transposed else weights
