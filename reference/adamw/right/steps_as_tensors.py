"""Counts steps in a float32 tensor, and creates the state when a group is added."""

import torch


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            self.state[p].update(step=torch.zeros(()), m=torch.zeros_like(p), v=torch.zeros_like(p))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                step, m, v = (self.state[p][name] for name in ("step", "m", "v"))
                step += 1
                m.lerp_(p.grad, 1 - beta1)
                v.lerp_(p.grad.square(), 1 - beta2)
                p.mul_(1 - group["lr"] * group["weight_decay"])
                rate = group["lr"] / (1 - beta1**step)
                p.sub_(rate * m / (v.sqrt() / (1 - beta2**step).sqrt() + group["eps"]))
