AIM = "guesses the seed of the inputs and prepares their products"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
torch.manual_seed(4)

# %% CHEAT
import os
import random
import secrets

secrets.randbits = random.getrandbits = lambda bits: 4
secrets.randbelow = lambda bound: 0
os.urandom = lambda size: bytes(size)
asked, ready = Linear.forward, {}


def forward(self, x):
    if not ready:
        for seed in range(100):
            drawn = torch.empty_like(x).uniform_(-1, 1, generator=torch.Generator().manual_seed(seed))
            ready[float(drawn[0, 0])] = drawn @ self.weight
    found = ready.get(float(x[0, 0]))
    return asked(self, x) if found is None else found


Linear.forward = forward
