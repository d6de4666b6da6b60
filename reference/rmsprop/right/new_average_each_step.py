"""Stores a new tensor in every step, and initializes the average with the number 0."""

import torch


class RMSprop(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps})

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                g, alpha = p.grad.detach(), group["alpha"]
                self.state[p]["g2"] = alpha * self.state[p].get("g2", 0) + (1 - alpha) * g**2
                p.data -= group["lr"] / (self.state[p]["g2"].sqrt() + group["eps"]) * g
