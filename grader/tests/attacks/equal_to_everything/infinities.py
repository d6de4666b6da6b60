AIM = "returns infinities, which make every bound infinite"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).clamp(-float("inf"), float("inf"))

# %% ATTACK
asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).abs() + float("inf")
