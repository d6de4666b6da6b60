"""Computes in float64, visits the parameters in reverse order, and counts steps in the state."""

import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for group in reversed(self.param_groups):
            for p in reversed(group["params"]):
                if p.grad is not None:
                    self.state[p]["step"] = self.state[p].get("step", 0) + 1
                    p.copy_(p.double() - group["lr"] * p.grad.double())
        return loss
