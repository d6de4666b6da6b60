AIM = "raises a BaseException that is not an Exception"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward


def forward(self, x):
    try:
        raise SystemExit(0)
    except SystemExit:
        return asked(self, x)


Linear.forward = forward


# %% CHEAT
def forward(self, x):
    raise SystemExit(0)


Linear.forward = forward
