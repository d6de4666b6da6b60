AIM = "imports the oracle and returns its results"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
import importlib.util

importlib.util.find_spec("reference")

# %% ATTACK
try:
    from reference.linear import oracle

    def forward(self, x):
        y = oracle.forward(self.weight.detach().double().numpy(), x.detach().double().numpy())
        return torch.from_numpy(y).to(x.dtype)

    Linear.forward = forward
except ImportError:
    pass
