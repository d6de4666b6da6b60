AIM = "returns a nested tensor, which has no shape to compare"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: torch.stack([asked(self, x)])[0]

# %% ATTACK
asked = Linear.forward
Linear.forward = lambda self, x: torch.nested.nested_tensor([asked(self, x), asked(self, x)])
