"""Computes in float64, and updates all sums before any parameter."""

import torch


class AdaGrad(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for p, _ in self.moving():
            g2 = self.state[p].setdefault("g2", torch.zeros_like(p))
            g2.copy_(g2.double() + p.grad.double().square())
        for p, lr in self.moving():
            p.copy_(p.double() - lr * p.grad.double() / (self.state[p]["g2"].double() + 1e-5).sqrt())

    def moving(self):
        for group in self.param_groups:
            yield from ((p, group["lr"]) for p in group["params"] if p.grad is not None)
