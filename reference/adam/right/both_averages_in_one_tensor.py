"""Stores both averages in one tensor, stores powers of the betas, and applies the bias corrections to lr and eps."""

import torch


class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(averages=torch.zeros(2, *p.shape, dtype=p.dtype), left1=1.0, left2=1.0)
                state["left1"] *= beta1
                state["left2"] *= beta2
                m, v = state["averages"]
                g = p.grad + group["weight_decay"] * p
                m.copy_(beta1 * m + (1 - beta1) * g)
                v.copy_(beta2 * v + (1 - beta2) * g.square())
                unbias = (1 - state["left2"]) ** 0.5
                rate = group["lr"] * unbias / (1 - state["left1"])
                p.sub_(rate * m / (v.sqrt() + group["eps"] * unbias))
