"""SGD with momentum, dampening and Nesterov's variant."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class Momentum(torch.optim.Optimizer):
    """`b ← momentum · b + (1 − dampening) · grad`, then `p ← p − lr · b`, or `p − lr · (grad + momentum · b)`."""

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        momentum: float = 0.9,
        dampening: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "nesterov": nesterov})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Update the buffer, then the parameter, for every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "b" not in state:
                    state["b"] = p.grad.clone()
                else:
                    state["b"].mul_(group["momentum"]).add_(p.grad, alpha=1 - group["dampening"])
                ahead = p.grad.add(state["b"], alpha=group["momentum"]) if group["nesterov"] else state["b"]
                p.add_(ahead, alpha=-group["lr"])
        return loss
