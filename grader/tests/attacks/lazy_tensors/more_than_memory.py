AIM = "returns one number, expanded to 10^12 elements"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x) + torch.zeros(1, dtype=x.dtype).expand(self.weight.shape[1])

# %% ATTACK
Linear.forward = lambda self, x: torch.zeros(1).expand(10**12)
