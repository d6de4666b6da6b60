"""Keep the state in float64 and compute there."""

WORKLOAD = "adagrad_step"


@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            state = self.state[p]
            state.setdefault("g2", torch.zeros_like(p, dtype=torch.float64))
            grad = p.grad.double()
            state["g2"] = state["g2"] + grad**2
            p.copy_((p.double() - group["lr"] * grad / torch.sqrt(state["g2"] + 1e-5)).to(p.dtype))


AdaGrad.step = step
