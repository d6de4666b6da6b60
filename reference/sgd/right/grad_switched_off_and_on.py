"""Takes each parameter out of autograd for the update and puts it back."""

import torch


class SGD(torch.optim.Optimizer):
    """`requires_grad_` instead of `no_grad`."""

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
