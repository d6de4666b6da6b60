AIM = "leaves threads running that keep the core and its caches busy while the baseline is measured"
SLOW = "linear/left_in_float64"
EXPECTED = "stopped"

# %% CONTROL
used = torch.zeros(2**20)
asked = Linear.forward


def forward(self, x):
    used.add_(1)
    return asked(self, x)


Linear.forward = forward

# %% CHEAT
import threading

waste = torch.zeros(2**24)


def burn():
    while True:
        waste.add_(1)


asked, helpers = Linear.forward, []


def forward(self, x):
    if not helpers:
        helpers.extend(threading.Thread(target=burn, daemon=True) for _ in range(2))
        for helper in helpers:
            helper.start()
    return asked(self, x)


Linear.forward = forward
