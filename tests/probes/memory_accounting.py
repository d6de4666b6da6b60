"""Probes of memory_accounting: tensors and models that are made from a description."""

from typing import Any

import torch
from torch import Tensor, nn

from .same_storage import build

PARTS = ("linear", "no_bias", "embedding", "norm", "batch_norm", "frozen", "tied", "twice", "activation")
OFTEN_MISSED = ("attention", "own", "frozen")  # parameters beside modules, in a module or in the model, and frozen ones


def model_of(parts: list[list[Any]]) -> nn.Module:
    """A model with one part for each `[kind, a, b]`, every second one a level deeper. It is never called.

    A part of kind `own` is a parameter of the model itself, not of a module within.
    """
    model = nn.Module()
    for i, (kind, a, b) in enumerate(parts):
        if kind == "own":
            model.register_parameter(f"own{i}", nn.Parameter(torch.zeros(a, b)))
            continue
        module = part_of(kind, a, b)
        model.add_module(str(i), nn.Sequential(nn.ReLU(), module) if i % 2 else module)
    return model


def part_of(kind: str, a: int, b: int) -> nn.Module:
    """One part of a model; `tied` has a parameter in two places, `twice` a whole module."""
    match kind:
        case "linear":
            return nn.Linear(a, b)
        case "no_bias":
            return nn.Linear(a, b, bias=False)
        case "embedding":
            return nn.Embedding(a, b)
        case "norm":
            return nn.LayerNorm([a, b])
        case "batch_norm":
            return nn.BatchNorm1d(a)
        case "attention":  # a module with parameters of its own and with a module within
            return nn.MultiheadAttention(a, 1, bias=False)
        case "frozen":
            return nn.Linear(a, b).requires_grad_(False)
        case "tied":
            embed, head = nn.Embedding(a, b), nn.Linear(b, a)
            head.weight = embed.weight
            return nn.ModuleDict({"embed": embed, "head": head})
        case "twice":
            layer = nn.Linear(a, a)
            return nn.ModuleList([layer, nn.Dropout(), layer])
        case _:
            return nn.GELU()


def tensor_bytes(assignment: Any, x: Tensor, _recipe: list[list[Any]]) -> object:
    """The bytes of the last tensor of a recipe."""
    return assignment.memory_accounting.tensor_bytes(build(x, _recipe)[-1][1])


def expanded_bytes(assignment: Any, row: Tensor, times: int) -> object:
    """The bytes of a row that is shown many times over."""
    return assignment.memory_accounting.tensor_bytes(row.clone().expand(times, -1))


def num_parameters(assignment: Any, parts: list[list[Any]]) -> object:
    """The parameters of a model."""
    return assignment.memory_accounting.num_parameters(model_of(parts))


def training_bytes(assignment: Any, num_parameters: int, num_activations: int, each: dict[str, int]) -> object:
    """The bytes of a training step; `each` holds those that are not left at their defaults."""
    return assignment.memory_accounting.training_bytes(num_parameters, num_activations, **each)


def max_parameters(assignment: Any, num_devices: int, device_bytes: float, bytes_per_parameter: int) -> object:
    """The parameters that fit."""
    return assignment.memory_accounting.max_parameters(num_devices, device_bytes, bytes_per_parameter)
