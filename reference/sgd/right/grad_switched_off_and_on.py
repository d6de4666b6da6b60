"""Sets `requires_grad` to False during the update of each parameter instead of using `no_grad`."""

import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    def step(self):
        for group in self.param_groups:
            for p in filter(lambda p: p.grad is not None, group["params"]):
                required = p.requires_grad
                p.requires_grad_(False)
                try:
                    torch.sub(p, p.grad, alpha=group["lr"], out=p)
                finally:
                    p.requires_grad_(required)
