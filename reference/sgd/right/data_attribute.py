"""Updates `p.data` and does not accept a closure."""

from torch.optim import Optimizer


class SGD(Optimizer):
    def __init__(self, params, lr=1e-2):
        super().__init__(params, defaults={"lr": lr})

    def step(self):
        for group in self.param_groups:
            lr = group["lr"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data -= lr * p.grad.data
