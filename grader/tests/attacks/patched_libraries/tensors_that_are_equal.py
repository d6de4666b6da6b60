AIM = "makes torch.equal, torch.allclose, torch.all and Tensor.__eq__ return True"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
weight = torch.ones(2)
assert torch.equal(weight, weight) and torch.allclose(weight, weight)
torch.testing.assert_close(weight, weight)

# %% ATTACK
torch.equal = torch.allclose = torch.isclose = lambda *args, **kwargs: True
torch.all = lambda *args, **kwargs: torch.ones((), dtype=torch.bool)
torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
torch.Tensor.__ne__ = lambda self, other: torch.zeros(self.shape, dtype=torch.bool)
torch.testing.assert_close = lambda *args, **kwargs: None
