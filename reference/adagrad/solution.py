"""AdaGrad, as a torch optimizer."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class AdaGrad(torch.optim.Optimizer):
    """`g2 ← g2 + grad²`, then `p ← p − lr · grad / sqrt(g2 + 1e-5)`."""

    def __init__(self, params: Iterable[nn.Parameter] | Iterable[dict[str, Any]], lr: float = 0.01) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Update the sum of squares, then the parameter, for every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "g2" not in state:
                    state["g2"] = torch.zeros_like(p)
                state["g2"].add_(p.grad.square())
                p.sub_(group["lr"] * p.grad / torch.sqrt(state["g2"] + 1e-5))
        return loss
