"""Updates all parameters of a group in a few fused calls, except in the first step."""

import torch


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, momentum=0.9, dampening=0.0, nesterov=False):
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "nesterov": nesterov})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            moving = [p for p in group["params"] if p.grad is not None]
            old = [p for p in moving if p in self.state]
            if old:
                memories = [self.state[p]["momentum_buffer"] for p in old]
                torch._foreach_mul_(memories, group["momentum"])
                torch._foreach_add_(memories, [p.grad for p in old], alpha=1 - group["dampening"])
            for p in moving:
                if p not in self.state:
                    self.state[p]["momentum_buffer"] = p.grad.clone()
            if moving:
                ahead = [self.state[p]["momentum_buffer"] for p in moving]
                if group["nesterov"]:
                    ahead = torch._foreach_mul(ahead, group["momentum"])
                    torch._foreach_add_(ahead, [p.grad for p in moving])
                torch._foreach_add_(moving, ahead, alpha=-group["lr"])
