"""Updates all parameters of a group that have the same step count in a few fused calls."""

from collections import defaultdict

import torch


class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            (beta1, beta2), by_age = group["betas"], defaultdict(list)
            for p in group["params"]:
                if p.grad is not None:
                    state = self.state[p]
                    state["m"] = state.get("m", torch.zeros_like(p))
                    state["v"] = state.get("v", torch.zeros_like(p))
                    state["t"] = state.get("t", 0) + 1
                    by_age[state["t"]].append(p)
            for t, moving in by_age.items():
                grads = torch._foreach_add([p.grad for p in moving], moving, alpha=group["weight_decay"])
                ms, vs = [self.state[p]["m"] for p in moving], [self.state[p]["v"] for p in moving]
                torch._foreach_lerp_(ms, grads, 1 - beta1)
                torch._foreach_mul_(vs, beta2)
                torch._foreach_addcmul_(vs, grads, grads, 1 - beta2)
                roots = torch._foreach_sqrt(vs)
                torch._foreach_div_(roots, (1 - beta2**t) ** 0.5)
                torch._foreach_add_(roots, group["eps"])
                torch._foreach_addcdiv_(moving, ms, roots, -group["lr"] / (1 - beta1**t))
