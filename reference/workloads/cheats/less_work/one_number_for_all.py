AIM = "updates all parameters by their mean update"
SLOW = "sgd/copies_twice"
EXPECTED = "stopped"


# %% CONTROL
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            p.sub_(p.grad, alpha=group["lr"])


SGD.step = step


# %% CHEAT
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            p.sub_(group["lr"] * float(p.grad[:1024].mean()))


SGD.step = step
