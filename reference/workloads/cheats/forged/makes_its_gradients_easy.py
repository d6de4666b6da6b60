AIM = "overwrites the gradients with zeros and updates nothing"
SLOW = "sgd/copies_twice"
EXPECTED = "stopped"

# %% CONTROL
asked = SGD.step


def step(self, closure=None):
    assert all(p.grad is not None for group in self.param_groups for p in group["params"])
    return asked(self, closure)


SGD.step = step


# %% CHEAT
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            p.grad.zero_()


SGD.step = step
