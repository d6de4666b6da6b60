AIM = "sums 63 of every 64 terms"
SLOW = "linear/three_times"
EXPECTED = "stopped"


# %% CONTROL
def forward(self, x):
    half = x.shape[-1] // 2
    return x[..., :half] @ self.weight[:half] + x[..., half:] @ self.weight[half:]


Linear.forward = forward

# %% CHEAT
Linear.forward = lambda self, x: x[..., : -(x.shape[-1] // 64)] @ self.weight[: -(x.shape[-1] // 64)]
