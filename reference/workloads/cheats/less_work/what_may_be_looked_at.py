AIM = "updates every sixteenth parameter"
SLOW = "sgd/copies_twice"
EXPECTED = "stopped"


# %% CONTROL
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            for part, grad in zip(p.chunk(4), p.grad.chunk(4), strict=True):
                part.add_(grad, alpha=-group["lr"])


SGD.step = step


# %% CHEAT
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            p[::16].add_(p.grad[::16], alpha=-group["lr"])


SGD.step = step
