"""Probes for accumulate_gradients: the gradients, the calls of the model, and the peak memory."""

from typing import Any

from torch import Tensor

from torchkata import typed

from .cruncher import typed_model, typed_new
from .deep_linear import DeepLinear
from .operators import peak_bytes


@typed(
    lambda weights, before, frozen: "\n".join(
        [
            typed_model(weights),
            *[f"list(model.parameters())[{i}].grad = before[{i}]" for i, grad in enumerate(before) if grad is not None],
            *([] if frozen is None else [f"list(model.parameters())[{frozen}].requires_grad_(False)"]),
            f"accumulate_gradients(model{'' if frozen is None else '.eval()'}, x, y, micro_batch_size)",
            "[p.grad for p in model.parameters()]",
        ]
    )
)
def accumulate(
    assignment: Any,
    weights: list[Tensor],
    before: list[Tensor | None],
    x: Tensor,
    y: Tensor,
    micro_batch_size: int,
    frozen: int | None,
) -> dict[str, object]:
    """Return the loss, the gradients, the calls of the model, and the values that should not change.

    The gradients are initialized with `before`. If `frozen` is given, this weight does not require grad, and the model
    is in evaluation mode.
    """
    model = DeepLinear(weights).train(frozen is None)
    for i, (p, grad) in enumerate(zip(model.weights, before, strict=True)):
        p.grad = None if grad is None else grad.clone()
        p.requires_grad_(i != frozen)
    x, y = x.clone(), y.clone()
    loss = assignment.gradient_accumulation.accumulate_gradients(model, x, y, micro_batch_size)
    grads = [p.grad for p in model.weights]
    return {
        "loss": loss,
        "attached": {"loss": has_graph(loss), "gradients": any(map(has_graph, grads))},
        "gradients": grads,
        "rows": [len(call.x) for call in DeepLinear.passes],
        "left alone": {"weights": list(model.weights), "x": x, "y": y, "model.training": model.training},
    }


def has_graph(value: object) -> bool:
    """Return whether a value has an autograd graph."""
    return isinstance(value, Tensor) and value.requires_grad


@typed(lambda weights: f"{typed_new(weights)}\naccumulate_gradients(model, x, y, micro_batch_size)")
def measure_peaks(
    assignment: Any, weights: list[Tensor], x: Tensor, y: Tensor, micro_batch_size: int
) -> dict[str, int]:
    """Return the peak memory, in bytes, for a batch that is split into micro-batches and for a single micro-batch."""

    def one_micro_batch() -> None:
        (model(x[:micro_batch_size]) - y[:micro_batch_size]).square().mean().backward()

    model = DeepLinear(weights)
    single = peak_bytes(one_micro_batch, [x, y], model.parameters())
    model = DeepLinear(weights)
    accumulate = assignment.gradient_accumulation.accumulate_gradients
    whole = peak_bytes(lambda: accumulate(model, x, y, micro_batch_size), [x, y], model.parameters())
    return {"whole batch": whole, "one micro-batch": single}
