"""Computes the square root as `hypot(sqrt(g2), sqrt(1e-5))`, and stores sums in the memory layout of the gradients."""

import torch


class AdaGrad(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})
        self.small = 1e-5**0.5

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    state = self.state[p]
                    state["g2"] = torch.addcmul(state["g2"], p.grad, p.grad) if "g2" in state else p.grad * p.grad
                    root = torch.hypot(state["g2"].sqrt(), torch.full_like(p, self.small))
                    p.sub_(p.grad.div(root).mul_(group["lr"]))
