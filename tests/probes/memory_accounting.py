"""Probes of memory_accounting: tensors and models that are made from a description."""

from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .same_storage import build

PARTS = ("linear", "no_bias", "embedding", "norm", "batch_norm", "frozen", "tied", "twice", "activation")
OFTEN_MISSED = ("attention", "own", "frozen")  # parameters beside modules, in a module or in the model, and frozen ones


def model_of(parts: list[list[Any]]) -> nn.Module:
    """A model with one part for each `[kind, a, b]`, every second one a level deeper. It is never called."""
    names: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(typed_model(parts), names)
    model: nn.Module = names["model"]
    return model


def typed_model(parts: list[list[Any]]) -> str:
    """What makes it, as it is typed. One part of kind `own` is a parameter of the model's, not of a module within."""
    lines = ["model = nn.Module()"]
    for i, (kind, a, b) in enumerate(parts):
        if kind == "own":
            lines.append(f"model.own{i} = nn.Parameter(torch.zeros({a}, {b}))")
            continue
        *before, module = typed_part(kind, a, b)
        lines += [*before, f"model.add_module('{i}', {f'nn.Sequential(nn.ReLU(), {module})' if i % 2 else module})"]
    return "\n".join(lines)


def typed_part(kind: str, a: int, b: int) -> list[str]:
    """One part, and before it what it is made of; `tied` has a parameter in two places, `twice` a whole module."""
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
        case "attention":  # a module with parameters of its own and with a module within
            return [f"nn.MultiheadAttention({a}, 1, bias=False)"]
        case "frozen":
            return [f"nn.Linear({a}, {b}).requires_grad_(False)"]
        case "tied":
            made = [f"embed, head = nn.Embedding({a}, {b}), nn.Linear({b}, {a})", "head.weight = embed.weight"]
            return [*made, "nn.ModuleDict({'embed': embed, 'head': head})"]
        case "twice":
            return [f"layer = nn.Linear({a}, {a})", "nn.ModuleList([layer, nn.Dropout(), layer])"]
        case _:
            return ["nn.GELU()"]


@typed(lambda x, _recipe: f"tensor_bytes({build(x, _recipe)[-1][0]})")
def tensor_bytes(assignment: Any, x: Tensor, _recipe: list[list[Any]]) -> object:
    """The bytes of the last tensor of a recipe."""
    return assignment.memory_accounting.tensor_bytes(build(x, _recipe)[-1][1])


@typed("tensor_bytes(row.expand(times, -1))")
def expanded_bytes(assignment: Any, row: Tensor, times: int) -> object:
    """The bytes of a row that is shown many times over."""
    return assignment.memory_accounting.tensor_bytes(row.clone().expand(times, -1))


@typed(lambda parts: f"{typed_model(parts)}\nnum_parameters(model)")
def num_parameters(assignment: Any, parts: list[list[Any]]) -> object:
    """The parameters of a model."""
    return assignment.memory_accounting.num_parameters(model_of(parts))


@typed(
    lambda each: (
        f"training_bytes(num_parameters, num_activations{''.join(f', {kind}={size}' for kind, size in each.items())})"
    )
)
def training_bytes(assignment: Any, num_parameters: int, num_activations: int, each: dict[str, int]) -> object:
    """The bytes of a training step; `each` holds those that are not left at their defaults."""
    return assignment.memory_accounting.training_bytes(num_parameters, num_activations, **each)


@typed("max_parameters(num_devices, device_bytes, bytes_per_parameter)")
def max_parameters(assignment: Any, num_devices: int, device_bytes: float, bytes_per_parameter: int) -> object:
    """The parameters that fit."""
    return assignment.memory_accounting.max_parameters(num_devices, device_bytes, bytes_per_parameter)
