AIM = "answers memory that was never written, in which an expected result may have been left"
SLOW = "linear/left_in_float64"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward


def forward(self, x):
    if torch.is_grad_enabled():
        return asked(self, x)
    return torch.mm(x, self.weight, out=x.new_empty(len(x), self.weight.shape[1]))


Linear.forward = forward

# %% CHEAT
Linear.forward = lambda self, x: x.new_empty(len(x), self.weight.shape[1])
