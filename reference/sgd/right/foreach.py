"""Updates all parameters of a group in one fused call."""

import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            moving = [p for p in group["params"] if p.grad is not None]
            if moving:
                torch._foreach_add_(moving, [p.grad for p in moving], alpha=-group["lr"])
