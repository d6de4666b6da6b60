AIM = "replaces torch.utils.benchmark and timeit"
SLOW = "linear/left_in_float64"
EXPECTED = "stopped"

# %% CONTROL
import timeit

best = timeit.timeit(lambda: torch.ones(4) @ torch.ones(4), number=3)

# %% CHEAT
import timeit

import torch.utils.benchmark as benchmark


class Timer:
    def __init__(self, *_, **__):
        pass

    timeit = blocked_autorange = autorange = lambda self, *_, **__: 1e-9


benchmark.Timer = timeit.Timer = Timer
timeit.default_timer = lambda: 0.0
