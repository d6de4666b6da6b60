"""Probes of Cruncher."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from . import loading


def loaded(assignment: Any, weights: list[Tensor]) -> Any:
    """A model that holds `weights`, the last of them the final one."""
    model = assignment.cruncher.Cruncher(weights[-1].shape[0], len(weights) - 1)
    load(model, weights)
    return model


def load(model: Any, weights: list[Tensor]) -> None:
    """Give it other weights."""
    loading.load(model, dict(zip(keys_of(weights), weights, strict=True)))


def keys_of(weights: Sequence[Tensor]) -> list[str]:
    """What they are called in `state_dict`."""
    return [f"layers.{i}.weight" for i in range(len(weights) - 1)] + ["final.weight"]


def typed_new(weights: Sequence[Tensor]) -> str:
    """What makes a model that they fit, as it is typed."""
    return f"model = Cruncher({len(weights[-1])}, {len(weights) - 1})"


def typed_model(weights: Sequence[Tensor]) -> str:
    """What makes a model that holds them, as it is typed."""
    return f"{typed_new(weights)}\n{loading.typed_load('model', keys_of(weights))}"


def weights_of(model: Any) -> list[Tensor]:
    """Copies of all weights, the final one last."""
    return [layer.weight.detach().clone() for layer in [*model.layers, model.final]]


@typed(
    lambda weights: "\n".join(
        [typed_new(weights) + ".eval()", "model(x)", loading.typed_load("model", keys_of(weights)), "model(x)"]
    )
)
def forward(assignment: Any, weights: list[Tensor], x: Tensor) -> object:
    """The model's output with given weights, in eval mode, after it has been used with others."""
    model = loaded(assignment, [weight + 1 for weight in weights]).eval()
    model(x)
    load(model, weights)
    return model(x)


@typed(lambda weights: f"{typed_model(weights)}\nmodel(x), torch.cat([model(row[None]) for row in x])")
def rows_alone(assignment: Any, weights: list[Tensor], x: Tensor) -> dict[str, object]:
    """The output of a batch, and of each of its rows as a batch of its own."""
    model = loaded(assignment, weights)
    return {"batch": model(x), "rows": torch.cat([model(row[None]).reshape(-1) for row in x])}


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
    """What flows back to every weight and to x."""
    model = loaded(assignment, weights)
    x = x.clone().requires_grad_()
    (model(x) * grad_y).sum().backward()
    return {"weights": [layer.weight.grad for layer in [*model.layers, model.final]], "x": x.grad}


@typed("model = Cruncher(dim, num_layers)\nmodel.layers, model.state_dict()")
def anatomy(assignment: Any, dim: int, num_layers: int) -> dict[str, object]:
    """What the model keeps."""
    model = assignment.cruncher.Cruncher(dim, num_layers)
    return {
        "state_dict": {key: list(value.shape) for key, value in model.state_dict().items()},
        "parameters": sum(p.numel() for p in model.parameters()),
        "layers is an nn.ModuleList": isinstance(getattr(model, "layers", None), nn.ModuleList),
    }


@typed("torch.manual_seed(seed)\n[Cruncher(dim, num_layers) for _ in range(models)]")
def initial_weights(assignment: Any, dim: int, num_layers: int, models: int, seed: int) -> dict[str, object]:
    """The weights of new models, the places where they begin in memory, and torch's seed once they are built."""
    torch.default_generator.manual_seed(seed)
    built = [assignment.cruncher.Cruncher(dim, num_layers) for _ in range(models)]
    weights = [layer.weight for model in built for layer in [*model.layers, model.final]]
    return {"weights": weights, "places": len({w.data_ptr() for w in weights}), "seed": torch.initial_seed()}
