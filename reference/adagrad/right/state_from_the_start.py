"""Creates the state when a parameter group is added, before any gradient exists."""

import torch


class AdaGrad(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            self.state[p]["g2"] = torch.zeros(p.shape, dtype=p.dtype, device=p.device)

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    g2 = self.state[p]["g2"]
                    g2 += p.grad**2
                    p.data -= group["lr"] / (g2 + 1e-5).sqrt() * p.grad
