AIM = "computes once per address of an input"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
asked, seen = Linear.forward, {}


def forward(self, x):
    seen[x.data_ptr()] = seen.get(x.data_ptr(), 0) + 1
    return asked(self, x)


Linear.forward = forward

# %% CHEAT
asked, kept = Linear.forward, {}


def forward(self, x):
    if x.data_ptr() not in kept:
        kept[x.data_ptr()] = asked(self, x)
    return kept[x.data_ptr()]


Linear.forward = forward
