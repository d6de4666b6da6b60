"""Copy parameters and gradients before they are used."""

WORKLOAD = "sgd_step"


@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            p.copy_(p.clone() - group["lr"] * p.grad.clone())


SGD.step = step
