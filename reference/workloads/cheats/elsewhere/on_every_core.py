AIM = "uses more threads, more cores and a higher priority"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
torch.set_num_threads(1)

# %% CHEAT
import contextlib
import os

for ask in (
    lambda: os.sched_setaffinity(0, range(os.cpu_count())),
    lambda: os.nice(-20),
    lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99)),
):
    with contextlib.suppress(OSError):
        ask()
torch.set_num_threads(8)
