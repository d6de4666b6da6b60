"""Probes for train_step that use an optimizer which records its weights and gradients."""

from typing import Any

import torch
from torch import Tensor

from torchkata import typed

from .cruncher import typed_model
from .deep_linear import DeepLinear

BETA = 0.5


class Momentum(torch.optim.Optimizer):
    """SGD with momentum 0.5: `v ← v / 2 + grad`, then `p ← p − lr · v`. Records each step's inputs."""

    def __init__(self, params: Any, lr: float) -> None:
        super().__init__(params, {"lr": lr})
        self.steps: list[dict[str, Any]] = []

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Record the weights and gradients, then update the weights."""
        (group,) = self.param_groups
        params = group["params"]
        grads = [None if p.grad is None else p.grad.clone() for p in params]
        self.steps.append({"weights": [p.detach().clone() for p in params], "gradients": grads})
        for p in params:
            if p.grad is not None:
                v = self.state[p].setdefault("v", torch.zeros_like(p))
                v.mul_(BETA).add_(p.grad)
                p.sub_(group["lr"] * v)


def list_dtypes(tensors: list[Any]) -> list[str]:
    """Return the sorted names of the distinct dtypes."""
    return sorted({str(t.dtype).removeprefix("torch.") if isinstance(t, Tensor) else "missing" for t in tensors})


@typed(
    lambda weights, shift: "\n".join(
        [
            typed_model(weights),
            *[f"model.register_forward_pre_hook(lambda _, args: (args[0] - {shift},))"] * bool(shift),
            "for p, grad in zip(model.parameters(), before):",
            "    p.grad = grad",
            f"opt = torch.optim.SGD(model.parameters(), lr=lr, momentum={BETA})",
            "loss = train_step(model, opt, x, y)",
            "loss, [(p, p.grad) for p in model.parameters()]",
        ]
    )
)
def one_step(
    assignment: Any, weights: list[Tensor], before: list[Tensor], x: Tensor, y: Tensor, lr: float, shift: int
) -> object:
    """Train for one step. `before` contains the gradients of the weights before the step.

    The model's first operation subtracts `shift`, unless it is 0.
    """
    model = DeepLinear(weights, shift)
    for p, grad in zip(model.weights, before, strict=True):
        p.grad = grad.clone()
    optimizer = Momentum(model.parameters(), lr)
    loss = assignment.mixed_precision.train_step(model, optimizer, x.clone(), y.clone())
    seen = [tensor for step in optimizer.steps for tensor in step["gradients"]]
    return {
        "loss": loss,
        "attached": isinstance(loss, Tensor) and loss.requires_grad,
        "steps": optimizer.steps,
        "autocast for CUDA": any(call.cuda_dtype is torch.bfloat16 for call in DeepLinear.passes),
        "weights": list(model.weights),
        "x is rounded": any(not torch.equal(call.x.to(x.dtype), x) for call in DeepLinear.passes),
        "dtypes": {
            "matmuls in the forward pass": sorted({name for call in DeepLinear.passes for name in call.products}),
            "parameters": list_dtypes([p for step in optimizer.steps for p in step["weights"]] + list(model.weights)),
            "gradients": list_dtypes(seen),
            "optimizer's state": list_dtypes([optimizer.state[p].get("v") for p in model.weights]),
        },
    }
