AIM = "does not update the last of 256 parts"
SLOW = "sgd/copies_twice"
EXPECTED = "stopped"


# %% CONTROL
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        torch._foreach_add_(group["params"], [p.grad for p in group["params"]], alpha=-group["lr"])


SGD.step = step


# %% CHEAT
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            count = p.numel() - p.numel() // 256
            p[:count].add_(p.grad[:count], alpha=-group["lr"])


SGD.step = step
