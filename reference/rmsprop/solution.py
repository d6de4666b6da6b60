"""RMSprop, as a torch optimizer."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class RMSprop(torch.optim.Optimizer):
    """`v ← alpha · v + (1 − alpha) · grad²`, then `p ← p − lr · grad / (sqrt(v) + eps)`."""

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Update the running average, then the parameter, for every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "v" not in state:
                    state["v"] = torch.zeros_like(p)
                state["v"].mul_(group["alpha"]).addcmul_(p.grad, p.grad, value=1 - group["alpha"])
                p.addcdiv_(p.grad, state["v"].sqrt().add_(group["eps"]), value=-group["lr"])
        return loss
