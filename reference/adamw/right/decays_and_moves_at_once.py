"""Subtracts the weight decay and the update together: `p ← p − lr · (weight_decay · p + m̂ / (√v̂ + eps))`."""

import torch


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                t = state["t"] = state.get("t", 0) + 1
                m = state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * p.grad.detach()
                v = state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * p.grad.detach().square()
                move = m / (1 - beta1**t) / ((v / (1 - beta2**t)).sqrt() + group["eps"])
                p.data -= group["lr"] * (group["weight_decay"] * p.data + move)
