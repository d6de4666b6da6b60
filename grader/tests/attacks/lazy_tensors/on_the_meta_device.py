AIM = "returns a tensor of the right shape that has no values"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
with torch.device("meta"):
    sketch = nn.Parameter(torch.empty(2, 3))
assert sketch.shape == (2, 3)

# %% ATTACK
asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).to("meta")
