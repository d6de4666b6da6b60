"""Supports momentum, weight decay, `maximize` and validation of lr, none of which has an effect by default."""

import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, momentum=0.0, weight_decay=0.0, *, maximize=False):
        if lr < 0:
            raise ValueError(f"the rate is negative: {lr}")
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "maximize": maximize})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                direction = -p.grad if group["maximize"] else p.grad
                if group["weight_decay"]:
                    direction = direction + group["weight_decay"] * p
                if group["momentum"]:
                    velocity = self.state[p].get("velocity")
                    direction = direction if velocity is None else group["momentum"] * velocity + direction
                    self.state[p]["velocity"] = direction.clone()
                p.sub_(direction * group["lr"])
        return loss
