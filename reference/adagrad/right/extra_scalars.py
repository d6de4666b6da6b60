"""Counts steps in the state, both as a number and as a zero-dimensional tensor."""

import torch


class AdaGrad(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, *, eps=1e-5, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(step=torch.zeros(()), count=0, g2=torch.zeros_like(p))
                state["step"] += 1
                state["count"] += 1
                grad = p.grad.add(p, alpha=group["weight_decay"]) if group["weight_decay"] else p.grad
                state["g2"].addcmul_(grad, grad)
                p.addcdiv_(grad, state["g2"].add(group["eps"]).sqrt_(), value=-group["lr"])
        return loss
