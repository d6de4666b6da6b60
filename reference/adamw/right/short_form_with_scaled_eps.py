"""Uses the short form from the paper with eps multiplied by sqrt(1 - beta2ᵗ), which yields the same update."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class AdamW(torch.optim.Optimizer):
    """Applies the bias corrections to the learning rate and eps instead of the averages."""

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        loss = closure() if closure else None
        for group in self.param_groups:
            (beta1, beta2), lr = group["betas"], group["lr"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad, state = p.grad.detach(), self.state[p]
                t = state.get("t", 0) + 1
                m = beta1 * state.get("m", 0.0) + (1 - beta1) * grad
                v = beta2 * state.get("v", 0.0) + (1 - beta2) * grad**2
                state.update(t=t, m=m, v=v)
                scale = (1 - beta2**t) ** 0.5
                p.data -= lr * group["weight_decay"] * p.data
                p.data -= lr * scale / (1 - beta1**t) * m / (v.sqrt() + group["eps"] * scale)
        return loss
