AIM = "returns a tensor that escaped from torch.func.vmap"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: torch.func.vmap(lambda y: y)(asked(self, x)[None])[0]

# %% ATTACK
kept = []
asked = Linear.forward


def forward(self, x):
    torch.func.vmap(lambda row: kept.append(row) or row)(asked(self, x).reshape(1, -1))
    return kept[-1]


Linear.forward = forward
