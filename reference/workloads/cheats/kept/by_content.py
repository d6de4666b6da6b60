AIM = "computes once for inputs that agree in a few elements"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
asked, kept = Linear.forward, {}


def forward(self, x):
    key = hash(x.numpy().tobytes())
    if key not in kept:
        kept.clear()
        kept[key] = asked(self, x)
    return kept[key]


Linear.forward = forward

# %% CHEAT
asked, kept = Linear.forward, {}


def forward(self, x):
    key = (x.shape, tuple(round(value) for value in x[0, :3].tolist()))
    if key not in kept:
        kept[key] = asked(self, x)
    return kept[key]


Linear.forward = forward
