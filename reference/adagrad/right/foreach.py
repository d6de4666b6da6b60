"""Updates all parameters of a group in a few fused calls."""

import torch


class AdaGrad(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            moving = [p for p in group["params"] if p.grad is not None]
            if not moving:
                continue
            grads = [p.grad for p in moving]
            for p in moving:
                self.state[p].setdefault("g2", torch.zeros_like(p))
            sums = [self.state[p]["g2"] for p in moving]
            torch._foreach_addcmul_(sums, grads, grads)
            roots = torch._foreach_add(sums, 1e-5)
            torch._foreach_sqrt_(roots)
            torch._foreach_addcdiv_(moving, grads, roots, value=-group["lr"])
