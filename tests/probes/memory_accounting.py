"""Probes for memory_accounting that build tensors and models from a description."""

from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .same_storage import build

PARTS = ("linear", "no_bias", "embedding", "norm", "batch_norm", "frozen", "tied", "twice", "activation")
OFTEN_MISSED = ("attention", "own", "frozen", "meta")  # directly in a module or in the model, frozen, or without memory


def build_model(parts: list[list[Any]]) -> nn.Module:
    """Build a model with one part for each `[kind, a, b]`. Every second part is nested one level deeper."""
    names: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(format_model(parts), names)
    model: nn.Module = names["model"]
    return model


def format_model(parts: list[list[Any]]) -> str:
    """Return the source code that builds the model. A part of kind `own` is a parameter of the model itself."""
    lines = ["model = nn.Module()"]
    for i, (kind, a, b) in enumerate(parts):
        if kind == "own":
            lines.append(f"model.own{i} = nn.Parameter(torch.zeros({a}, {b}))")
            continue
        *before, module = format_part(kind, a, b)
        lines += [*before, f"model.add_module('{i}', {f'nn.Sequential(nn.ReLU(), {module})' if i % 2 else module})"]
    return "\n".join(lines)


def format_part(kind: str, a: int, b: int) -> list[str]:
    """Return lines of code, the last an expression. `tied` shares a parameter, `twice` a module, `slices` a storage."""
    match kind:
        case "linear":
            return [f"nn.Linear({a}, {b})"]
        case "no_bias":
            return [f"nn.Linear({a}, {b}, bias=False)"]
        case "embedding":
            return [f"nn.Embedding({a}, {b})"]
        case "norm":
            return [f"nn.LayerNorm([{a}, {b}])"]
        case "batch_norm":
            return [f"nn.BatchNorm1d({a})"]
        case "attention":  # a module with both parameters and a child module
            return [f"nn.MultiheadAttention({a}, 1, bias=False)"]
        case "meta":  # as in a model that does not fit into memory
            return [f"nn.Linear({a}, {b}, device='meta')"]
        case "frozen":
            return [f"nn.Linear({a}, {b}).requires_grad_(False)"]
        case "tied":
            lines = [f"embed, head = nn.Embedding({a}, {b}), nn.Linear({b}, {a})", "head.weight = embed.weight"]
            return [*lines, "nn.ModuleDict({'embed': embed, 'head': head})"]
        case "twice":
            return [f"layer = nn.Linear({a}, {a})", "nn.ModuleList([layer, nn.Dropout(), layer])"]
        case "slices":
            return [f"flat = torch.zeros({a + b})", f"nn.ParameterList([flat[:{a}], flat[{a}:]])"]
        case _:
            return ["nn.GELU()"]


@typed(lambda x, _recipe: f"tensor_bytes({build(x, _recipe)[-1][0]})")
def tensor_bytes(assignment: Any, x: Tensor, _recipe: list[list[Any]]) -> object:
    """Call `tensor_bytes` for the last tensor of a recipe."""
    return assignment.memory_accounting.tensor_bytes(build(x, _recipe)[-1][1])


@typed("tensor_bytes(row.expand(times, -1))")
def expanded_bytes(assignment: Any, row: Tensor, times: int) -> object:
    """Call `tensor_bytes` for an expanded row."""
    return assignment.memory_accounting.tensor_bytes(row.clone().expand(times, -1))


@typed(lambda parts: f"{format_model(parts)}\nnum_parameters(model)")
def num_parameters(assignment: Any, parts: list[list[Any]]) -> object:
    """Call `num_parameters`."""
    return assignment.memory_accounting.num_parameters(build_model(parts))


@typed(
    lambda each: (
        f"training_bytes(num_parameters, num_activations{''.join(f', {kind}={size}' for kind, size in each.items())})"
    )
)
def training_bytes(assignment: Any, num_parameters: int, num_activations: int, each: dict[str, int]) -> object:
    """Call `training_bytes`. `each` contains the keyword arguments that are passed."""
    return assignment.memory_accounting.training_bytes(num_parameters, num_activations, **each)
