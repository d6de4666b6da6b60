"""Probes for Cruncher."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from . import loading


def build_model(assignment: Any, weights: list[Tensor]) -> Any:
    """Build a model with the given weights, the last of which belongs to the final layer."""
    model = assignment.cruncher.Cruncher(weights[-1].shape[0], len(weights) - 1).to(weights[-1].dtype)
    load(model, weights)
    return model


def load(model: Any, weights: list[Tensor]) -> None:
    """Load the given weights into `model`."""
    loading.load_by_shape(model, dict(zip(list_keys(weights), weights, strict=True)))


def list_keys(weights: Sequence[object]) -> list[str]:
    """Return the keys of the weights in `state_dict`."""
    return [f"layers.{i}.weight" for i in range(len(weights) - 1)] + ["final.weight"]


def find_weights(model: Any, shapes: Sequence[Sequence[int]]) -> list[Any]:
    """Return the weights of the given shapes, whatever their names."""
    with suppress(AttributeError):
        return [layer.weight for layer in [*model.layers, model.final]]
    return loading.find_weights(model, dict(zip(list_keys(shapes), shapes, strict=True)))


def copy_weights(model: Any) -> list[Tensor]:
    """Return copies of all weights, with the final layer's weight last."""
    return [layer.weight.detach().clone() for layer in [*model.layers, model.final]]


def typed_new(weights: Sequence[Tensor]) -> str:
    """Return the code that builds a model of the right size for the given weights."""
    name = "" if len(weights) > 1 else "num_layers="  # says what is unusual about the model
    cast = "" if weights[-1].dtype == torch.float32 else f".to({weights[-1].dtype})"
    return f"model = Cruncher({len(weights[-1])}, {name}{len(weights) - 1}){cast}"


def typed_model(weights: Sequence[Tensor]) -> str:
    """Return the code that builds a model with the given weights."""
    return f"{typed_new(weights)}\n{loading.typed_load('model', list_keys(weights))}"


@typed(
    lambda weights: "\n".join(
        [
            f"{typed_new(weights)}.eval()",
            "others = [weight + 1 for weight in weights]",
            loading.typed_load("model", list_keys(weights), "others"),
            "model(x)",
            loading.typed_load("model", list_keys(weights)),
            "model(x)",
        ]
    )
)
def forward(assignment: Any, weights: list[Tensor], x: Tensor) -> dict[str, object]:
    """Return the model's outputs in eval mode for other weights ("before"), and then for the given ones ("y")."""
    model = build_model(assignment, [weight + 1 for weight in weights]).eval()
    before = model(x)
    load(model, weights)
    return {"before": before, "y": model(x)}


@typed(
    lambda weights: "\n".join(
        [
            f"{typed_model(weights)}",
            "model.eval()",
            "with torch.no_grad():",
            "    before = model(x)",
            "    for p in model.parameters():",
            "        p.add_(1)",
            "    after = model(x)",
            "before, after",
        ]
    )
)
def changed_in_place(assignment: Any, weights: list[Tensor], x: Tensor) -> list[Tensor]:
    """Return two outputs in eval mode under no_grad, between which each weight is increased by 1."""
    model = build_model(assignment, weights).eval()
    with torch.no_grad():
        before = model(x)
        for weight in find_weights(model, [weight.shape for weight in weights]):
            weight.add_(1)
        return [before, model(x)]


@typed(
    lambda weights, _rows: "\n".join(
        [typed_model(weights), ", ".join(["model(x)", *(f"model(x[{start}:{stop}])" for start, stop in _rows)])]
    )
)
def parts(assignment: Any, weights: list[Tensor], x: Tensor, _rows: list[tuple[int, int]]) -> dict[str, object]:
    """Return the output for a batch, and the outputs for parts of the batch, whose bounds are in `_rows`."""
    model = build_model(assignment, weights)
    return {"batch": model(x), "parts": [model(x[start:stop]) for start, stop in _rows]}


@typed(
    lambda weights: "\n".join(
        [
            typed_model(weights),
            "x.requires_grad_()",
            "(model(x) * grad_y).sum().backward()",
            "[p.grad for p in model.parameters()], x.grad",
        ]
    )
)
def gradients(assignment: Any, weights: list[Tensor], x: Tensor, grad_y: Tensor) -> dict[str, object]:
    """Return the model's output, and the gradients of every weight and of x."""
    model = build_model(assignment, weights)
    x = x.clone().requires_grad_()
    y = model(x)
    (y * grad_y).sum().backward()
    return {
        "y": y,
        "weights": [weight.grad for weight in find_weights(model, [weight.shape for weight in weights])],
        "x": x.grad,
    }


@typed(
    "model = Cruncher(dim, num_layers)\n"
    "type(model.layers), {key: [*value.shape] for key, value in model.state_dict().items()}"
)
def anatomy(assignment: Any, dim: int, num_layers: int) -> dict[str, object]:
    """Return the shapes in `state_dict`, the number of parameters, and whether `layers` is an `nn.ModuleList`."""
    model = assignment.cruncher.Cruncher(dim, num_layers)
    return {
        "state_dict": {key: list(value.shape) for key, value in model.state_dict().items()},
        "parameters": sum(p.numel() for p in model.parameters()),
        "layers is an nn.ModuleList": isinstance(getattr(model, "layers", None), nn.ModuleList),
    }


@typed("torch.manual_seed(seed)\n[Cruncher(dim, num_layers) for _ in range(models)]")
def initial_weights(assignment: Any, dim: int, num_layers: int, models: int, seed: int) -> dict[str, object]:
    """Return the weights of new models, the number of their distinct addresses, and torch's seed after the calls."""
    torch.default_generator.manual_seed(seed)
    built = [assignment.cruncher.Cruncher(dim, num_layers) for _ in range(models)]
    shapes = [[dim, dim]] * num_layers + [[dim, 1]]
    weights = [weight for model in built for weight in find_weights(model, shapes)]
    return {"weights": weights, "addresses": len({w.data_ptr() for w in weights}), "seed": torch.initial_seed()}
