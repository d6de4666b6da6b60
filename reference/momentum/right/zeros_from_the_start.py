"""Creates zero buffers when a group is added, and marks the first step of each parameter with a flag."""

import torch


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, momentum=0.9, dampening=0.0, nesterov=False):
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "nesterov": nesterov})

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            self.state[p].update(memory=torch.zeros_like(p), moved=False)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    state = self.state[p]
                    memory = state["memory"]
                    memory *= group["momentum"]
                    memory += p.grad * (1 - group["dampening"] if state["moved"] else 1)
                    state["moved"] = True
                    ahead = p.grad + group["momentum"] * memory if group["nesterov"] else memory
                    p -= group["lr"] * ahead
