"""Stores the buffer with the opposite sign, in a new tensor for each step."""

import torch


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, momentum=0.9, dampening=0.0, nesterov=False, weight_decay=0.0):
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "nesterov": nesterov}
        super().__init__(params, {**options, "weight_decay": weight_decay})

    def step(self, closure=None):
        loss = None if closure is None else closure()
        for group in self.param_groups:
            mu = group["momentum"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                downhill = -(p.grad.detach() + group["weight_decay"] * p.detach())
                velocity = self.state[p].get("velocity")
                weight = 1 if velocity is None else 1 - group["dampening"]
                velocity = weight * downhill + (0 if velocity is None else mu * velocity)
                self.state[p]["velocity"] = velocity
                p.data += group["lr"] * (downhill + mu * velocity if group["nesterov"] else velocity)
        return loss
