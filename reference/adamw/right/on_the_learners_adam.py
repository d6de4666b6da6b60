"""Applies weight decay, then calls the student's own Adam with `weight_decay=0`."""

import torch

from .adam import Adam


class AdamW(Adam):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr, betas, eps, weight_decay)

    @torch.no_grad()
    def step(self, closure=None):
        decays = [group["weight_decay"] for group in self.param_groups]
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.mul_(1 - group["lr"] * group["weight_decay"])
            group["weight_decay"] = 0.0
        loss = super().step(closure)
        for group, decay in zip(self.param_groups, decays, strict=True):
            group["weight_decay"] = decay
        return loss
