"""Probes for language_model."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .loading import load
from .tables import Tables

SHOW_PARAMETERS = "model = LanguageModel(*sizes)\nlen(list(model.parameters()))"
SHOW_CALLS = "from tests.probes.tables import Tables\nmodel = Tables(tables)\nloss(model, batch)\nmodel.events"
LINEAR = ("project", "merge", "up", "down", "output")


def build(assignment: Any, weights: dict[str, Tensor], sizes: list[int]) -> Any:
    """Build a LanguageModel in float64 with the given weights."""
    model = assignment.language_model.LanguageModel(*sizes).double()
    load(model, weights)
    return model


@typed("model = LanguageModel(*sizes)\n{key: list(p.shape) for key, p in model.state_dict().items()}, model.context")
def shapes(assignment: Any, sizes: list[int]) -> dict[str, object]:
    """Return the shapes of a model's state and parameters, its context, and the classes of its parts."""
    model = assignment.language_model.LanguageModel(*sizes)
    own, linear = assignment.language_model, assignment.linear.Linear
    kinds = {"attentions": own.CausalAttention, "mlps": own.MLP} | dict.fromkeys(LINEAR, linear)
    return {
        "state": {key: list(value.shape) for key, value in model.state_dict().items()},
        "parameters": sorted(key for key, _ in model.named_parameters(remove_duplicate=False)),
        "distinct": len({id(p) for p in model.parameters()}),
        "context": model.context,
        "plain": [name for name in ("attentions", "mlps") if isinstance(getattr(model, name, None), list | tuple)],
        "foreign": [
            name
            for name, part in model.named_modules()
            if (kind := kinds.get(name.rstrip(".0123456789").rpartition(".")[2])) is not None
            if not isinstance(part, (kind, nn.ModuleList))
        ],
    }


def draw_weights(shapes: Mapping[str, Sequence[int]], seed: int) -> dict[str, Tensor]:
    """Return random weights in float64 with these keys and shapes."""
    generator = torch.Generator().manual_seed(seed)
    each = sorted(shapes.items())
    return {key: torch.randn([*shape], dtype=torch.float64, generator=generator) / 2 for key, shape in each}


@typed(
    "from tests.probes.language_model import draw_weights\n"
    "model = LanguageModel(*sizes).double()\n"
    "shapes = {key: p.shape for key, p in model.state_dict().items()}\n"
    "model.load_state_dict(draw_weights(shapes, seed))\n"
    "model(tokens)"
)
def logits(assignment: Any, sizes: list[int], weights: dict[str, list[int]], seed: int, tokens: Tensor) -> Tensor:
    """Return the logits of a model whose weights, which have the given shapes, are drawn from the seed."""
    result: Tensor = build(assignment, draw_weights(weights, seed), sizes)(tokens)
    return result.detach()


@typed('model = LanguageModel(*sizes).to("meta")\nmodel(torch.zeros(1, 2, dtype=torch.int64, device="meta"))')
def mixed_devices(assignment: Any, sizes: list[int]) -> str:
    """Return torch's message if a model on the meta device combines tensors on two devices, otherwise ""."""
    model = assignment.language_model.LanguageModel(*sizes).to("meta")
    try:
        model(torch.zeros(1, 2, dtype=torch.int64, device="meta"))
    except (RuntimeError, NotImplementedError) as error:  # other errors: the student's attention may read values
        return str(error) if "on the expected device" in str(error) else ""
    return ""


@typed(
    "model = LanguageModel(*sizes)\n"
    "with torch.no_grad():\n    model.output.weight.zero_()\n"
    "[loss(model, batch).item() for batch in batches]"
)
def zeroed(assignment: Any, sizes: list[int], batches: list[Tensor]) -> list[float]:
    """Return the losses of a new model whose output weight is set to zero."""
    model = assignment.language_model.LanguageModel(*sizes)
    with torch.no_grad():
        model.output.weight.zero_()
    return [float(assignment.language_model.loss(model, batch)) for batch in batches]


def write_loss(dtype: str) -> str:
    """Return the code of a call of `loss`."""
    converted = "" if dtype == "float32" else f", torch.{dtype}"
    return f"from tests.probes.tables import Tables\nloss(Tables(tables{converted}), batch)"


@typed(write_loss)
def loss(assignment: Any, tables: Tensor, batch: Tensor, dtype: str) -> dict[str, object]:
    """Return the loss of a `Tables` model with logits of the given dtype, and the model's calls."""
    model, tokens = Tables(tables, getattr(torch, dtype)), batch.clone()
    value = assignment.language_model.loss(model, tokens)
    has_graph = isinstance(value, Tensor) and value.requires_grad
    return {"loss": value, "has graph": has_graph, "calls": model.events, "batch": tokens}
