AIM = "returns NaN, for which `abs(difference) > bound` is never true"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: torch.where(torch.isnan(x @ self.weight), x @ self.weight, asked(self, x))

# %% ATTACK
asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x) * float("nan")
