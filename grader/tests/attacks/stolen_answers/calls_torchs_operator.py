AIM = "lets torch's own operator compute the answer"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "not stopped: a worker has torch, whose operator for the layer is right"

# %% CONTROL
Linear.forward = lambda self, x: torch.matmul(x, self.weight)

# %% ATTACK
Linear.forward = lambda self, x: torch.ops.aten.linear(x, self.weight.T)
