AIM = "returns NaN, for which every comparison is false"
SLOW = "linear/three_times"
EXPECTED = "stopped"


# %% CONTROL
def forward(self, x):
    y = x @ self.weight
    assert not y[0, 0].isnan()
    return y


Linear.forward = forward

# %% CHEAT
Linear.forward = lambda self, x: torch.full((len(x), self.weight.shape[1]), float("nan"))
