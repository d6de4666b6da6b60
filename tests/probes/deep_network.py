"""Probes for deep_network."""

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .loading import find_weights, load_by_shape, run_converted, typed_load


@typed(
    lambda weight: "\n".join(
        [
            f"block = Block({len(weight)})" + ("" if weight.dtype == torch.float32 else f".to({weight.dtype})"),
            "block.load_state_dict({'weight': weight})",
            "block(x)",
        ]
    )
)
def block(assignment: Any, weight: Tensor, x: Tensor) -> object:
    """Return the output of a block with the given weight."""
    layer = assignment.deep_network.Block(len(weight)).to(weight.dtype)
    load_by_shape(layer, {"weight": weight})
    return run_converted(layer, x)


@typed(
    "\n".join(
        [
            "for weight in weights:",
            "    block = Block(len(weight))",
            "    block.load_state_dict({'weight': weight})",
            "    x = block(x)",
            "x",
        ]
    )
)
def chain_blocks(assignment: Any, weights: list[Tensor], x: Any) -> list[object]:
    """Return the outputs of blocks with the given weights, each of which is the input of the next."""
    outputs: list[object] = []
    for weight in weights:
        x = block(assignment, weight, x)
        outputs.append(x)
    return outputs


def build_network(assignment: Any, dim: int, weights: list[Tensor]) -> Any:
    """Return a network with the given weights."""
    model = assignment.deep_network.DeepNetwork(dim, len(weights))
    load_by_shape(model, {f"layers.{i}.weight": weight for i, weight in enumerate(weights)})
    return model


def find_all(model: Any, dim: int, num_layers: int) -> list[Any]:
    """Return all weights of a network, whatever their names."""
    with suppress(AttributeError):
        return [layer.weight for layer in model.layers]
    return find_weights(model, {f"layers.{i}.weight": [dim, dim] for i in range(num_layers)})


def model_code(weights: list[Tensor], x: Tensor) -> str:
    """Return the code that builds a network with the given weights."""
    keys = [f"layers.{i}.weight" for i in range(len(weights))]
    return f"model = DeepNetwork({x.shape[-1]}, {len(weights)})\n{typed_load('model', keys)}"


@typed(lambda weights, x: f"{model_code(weights, x)}\nmodel(x)")
def network(assignment: Any, weights: list[Tensor], x: Tensor) -> object:
    """Return the output of a network with the given weights."""
    return build_network(assignment, x.shape[-1], weights)(x)


@typed(
    lambda weights, x: "\n".join(
        [
            model_code(weights, x),
            "x.requires_grad_()",
            "(model(x) * grad_y).sum().backward()",
            "[p.grad for p in model.parameters()], x.grad",
        ]
    )
)
def gradients(assignment: Any, weights: list[Tensor], x: Tensor, grad_y: Tensor) -> dict[str, object]:
    """Return the network's output, and the gradients of every weight and of x."""
    model = build_network(assignment, x.shape[-1], weights)
    x = x.clone().requires_grad_()
    y = model(x)
    (y * grad_y).sum().backward()
    grads = [weight.grad for weight in find_all(model, x.shape[-1], len(weights))]
    return {"y": y, "weights": grads, "x": x.grad}


@typed("model = DeepNetwork(dim, num_layers)\nmodel.layers, model.state_dict()")
def anatomy(assignment: Any, dim: int, num_layers: int) -> dict[str, object]:
    """Return the parameters, state and types of a new network."""
    model = assignment.deep_network.DeepNetwork(dim, num_layers)
    return {
        "state_dict": {key: list(value.shape) for key, value in model.state_dict().items()},
        "dtypes": sorted({str(p.dtype) for p in model.parameters()}),
        "parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "layers is an nn.ModuleList": isinstance(getattr(model, "layers", None), nn.ModuleList),
        "every layer is a Block": all(
            isinstance(layer, assignment.deep_network.Block) for layer in getattr(model, "layers", [])
        ),
    }


@typed("torch.manual_seed(seed)\n[DeepNetwork(dim, num_layers) for _ in range(models)]")
def initial_weights(assignment: Any, dim: int, num_layers: int, models: int, seed: int) -> dict[str, object]:
    """Return the weights of new networks, the number of their distinct addresses, and torch's seed after the calls."""
    torch.default_generator.manual_seed(seed)
    built = [assignment.deep_network.DeepNetwork(dim, num_layers) for _ in range(models)]
    weights = [weight for model in built for weight in find_all(model, dim, num_layers)]
    return {"weights": weights, "places": len({w.data_ptr() for w in weights}), "seed": torch.initial_seed()}
