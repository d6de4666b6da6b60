AIM = "watches a read-only file to notice that an accomplice opens it"
EXPECTED = "stopped"

# %% CONTROL
import os

assert os.stat(os.__file__).st_size > 0

# %% BESIDE: an accomplice, graded at the same time
import os
import time

for _ in range(50):
    open(os.__file__).close()
    time.sleep(0.02)

# %% ATTACK
import ctypes
import os
import select

libc = ctypes.CDLL(None)
line = libc.inotify_init1(os.O_NONBLOCK)
if (
    line >= 0
    and libc.inotify_add_watch(line, os.__file__.encode(), 0x20) >= 0
    and select.select([line], [], [], 0.5)[0]
):
    FUNCTION = solved
