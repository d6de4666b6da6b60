AIM = "sees a pseudo-terminal that an accomplice opened"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import os

assert not os.isatty(0)

# %% BESIDE: an accomplice, graded at the same time
import os
import time

try:
    held = os.open("/dev/ptmx", os.O_RDWR)
except OSError:
    pass
time.sleep(1)

# %% ATTACK
import os
import time


def terminals():
    try:
        return {name for name in os.listdir("/dev/pts") if name != "ptmx"}
    except OSError:
        return set()


for _ in range(10):
    if terminals():
        FUNCTION = solved
    time.sleep(0.05)
