AIM = "returns a sparse tensor"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
assert torch.eye(2).to_sparse().to_dense().sum() == 2

# %% ATTACK
asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).to_sparse()
