AIM = "divides by the last gradient only"
SLOW = "adagrad/left_in_float64"
EXPECTED = "stopped"


# %% CONTROL
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            state = self.state[p]
            state.setdefault("g2", torch.zeros_like(p)).addcmul_(p.grad, p.grad)
            p.addcdiv_(p.grad, torch.sqrt(state["g2"] + 1e-5), value=-group["lr"])


AdaGrad.step = step


# %% CHEAT
@torch.no_grad()
def step(self, closure=None):
    for group in self.param_groups:
        for p in group["params"]:
            p.add_(p.grad.sign(), alpha=-group["lr"])


AdaGrad.step = step
