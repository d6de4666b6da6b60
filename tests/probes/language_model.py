"""Probes for language_model."""

from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .loading import load
from .tables import Tables

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
        "foreign": [
            name
            for name, part in model.named_modules()
            if (kind := kinds.get(name.rstrip(".0123456789").rpartition(".")[2])) is not None
            if not isinstance(part, (kind, nn.ModuleList))
        ],
    }


@typed("model = LanguageModel(*sizes).double()\nmodel.load_state_dict(weights)\nmodel(tokens)")
def logits(assignment: Any, sizes: list[int], weights: dict[str, Tensor], tokens: Tensor) -> Tensor:
    """Return the logits of a model with the given weights."""
    result: Tensor = build(assignment, weights, sizes)(tokens)
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


@typed("from tests.probes.tables import Tables\nloss(Tables(tables), batch)")
def loss(assignment: Any, tables: Tensor, batch: Tensor, dtype: str) -> dict[str, object]:
    """Return the loss of a `Tables` model with logits of the given dtype, and the model's calls."""
    model, tokens = Tables(tables, getattr(torch, dtype)), batch.clone()
    value = assignment.language_model.loss(model, tokens)
    has_graph = isinstance(value, Tensor) and value.requires_grad
    return {"loss": value, "has graph": has_graph, "calls": model.events, "batch": tokens}
