AIM = "is slow until the number of calls per block has been chosen"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import time

asked, calls = Linear.forward, [0]


def forward(self, x):
    calls[0] += 1
    if calls[0] == 1:
        time.sleep(0.1)
    return asked(self, x)


Linear.forward = forward

# %% CHEAT
import time

asked, calls = Linear.forward, [0]


def forward(self, x):
    calls[0] += 1
    if calls[0] < 10:
        time.sleep(0.1)
    return asked(self, x)


Linear.forward = forward
