"""Stores a new tensor in every step, initializes the sum with the number 0, and multiplies by `rsqrt`."""

import torch


class AdaGrad(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad.detach()
                self.state[p]["g2"] = self.state[p].get("g2", 0) + g.pow(2)
                p.data.sub_(torch.rsqrt(self.state[p]["g2"] + 1e-5) * g * group["lr"])
