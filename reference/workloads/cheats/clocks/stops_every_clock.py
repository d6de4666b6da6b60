AIM = "replaces all of Python's clocks with constant ones"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import time

asked = Linear.forward


def forward(self, x):
    began = time.perf_counter()
    y = asked(self, x)
    self.seconds = time.perf_counter() - began
    return y


Linear.forward = forward

# %% CHEAT
import time

for name in dir(time):
    if name.removesuffix("_ns") in (
        "time",
        "perf_counter",
        "monotonic",
        "process_time",
        "thread_time",
        "clock_gettime",
    ):
        setattr(time, name, lambda *_: 0)
