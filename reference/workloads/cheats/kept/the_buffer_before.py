AIM = "computes every second time and returns the last buffer in between"
SLOW = "linear/left_in_float64"
EXPECTED = "stopped"

# %% CONTROL
asked, last = Linear.forward, []


def forward(self, x):
    last[:] = [asked(self, x)]
    return last[0]


Linear.forward = forward

# %% CHEAT
asked, last = Linear.forward, []


def forward(self, x):
    if last:
        return last.pop()
    last.append(asked(self, x))
    return last[0]


Linear.forward = forward
