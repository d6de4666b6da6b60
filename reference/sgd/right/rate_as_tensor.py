"""Stores lr as a tensor with one element, which torch allows for compiled steps."""

import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": torch.as_tensor(lr, dtype=torch.float64)})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= (group["lr"] * p.grad).to(p.dtype)
