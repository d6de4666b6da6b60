"""Computes in float64, and updates all averages before any parameter."""

import torch


class RMSprop(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps})

    @torch.no_grad()
    def step(self):
        for p, group in self.moving():
            v = self.state[p].setdefault("v", torch.zeros_like(p))
            v.copy_(torch.lerp(v.double(), p.grad.double().square(), 1 - group["alpha"]))
        for p, group in self.moving():
            p.copy_(p.double() - group["lr"] * p.grad.double() / (self.state[p]["v"].double().sqrt() + group["eps"]))

    def moving(self):
        for group in self.param_groups:
            yield from ((p, group) for p in group["params"] if p.grad is not None)
