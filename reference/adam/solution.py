"""Adam, as a torch optimizer."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class Adam(torch.optim.Optimizer):
    """Bias-corrected running averages of the gradient and of its square."""

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Update both averages, then the parameter, for every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(t=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["t"] += 1
                grad = p.grad.add(p, alpha=group["weight_decay"])
                state["m"].mul_(beta1).add_(grad, alpha=1 - beta1)
                state["v"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                correction1, correction2 = 1 - beta1 ** state["t"], 1 - beta2 ** state["t"]
                root = state["v"].div(correction2).sqrt_().add_(group["eps"])
                p.addcdiv_(state["m"], root, value=-group["lr"] / correction1)
        return loss
