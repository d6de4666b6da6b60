"""Stores the square root of the average, and updates it with `hypot` so that no square overflows."""

import torch


class RMSprop(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8, centered=False):
        if centered:
            raise ValueError("not centered")
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            kept, new = group["alpha"] ** 0.5, (1 - group["alpha"]) ** 0.5
            for p in group["params"]:
                if p.grad is not None:
                    root = self.state[p].get("root", torch.zeros_like(p))
                    self.state[p]["root"] = root = torch.hypot(kept * root, new * p.grad)
                    p.sub_(group["lr"] * p.grad / (root + group["eps"]))
