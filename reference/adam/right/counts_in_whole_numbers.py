"""Counts steps in an int64 tensor of shape (1,), and has an `amsgrad` option that is off by default."""

import torch


class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False):
        if amsgrad:
            raise ValueError("amsgrad is not written yet")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g, state = p.grad.detach(), self.state[p]
                if group["weight_decay"] != 0:
                    g = g.add(p.detach(), alpha=group["weight_decay"])
                state["step"] = state.get("step", torch.zeros(1, dtype=torch.int64)) + 1
                state["m"] = b1 * state.get("m", 0) + (1 - b1) * g
                state["v"] = b2 * state.get("v", 0) + (1 - b2) * g * g
                t = state["step"].item()
                p.data.sub_(
                    group["lr"] * (state["m"] / (1 - b1**t)) / ((state["v"] / (1 - b2**t)).sqrt() + group["eps"])
                )
