AIM = "receives a signal through locks on a read-only file"
EXPECTED = "stopped"

# %% CONTROL
import threading

with threading.Lock():
    pass

# %% BESIDE: an accomplice, graded at the same time
import contextlib
import fcntl
import os
import time

shared = open(os.__file__)
with contextlib.suppress(OSError):
    fcntl.flock(shared, fcntl.LOCK_EX)
with contextlib.suppress(OSError):
    fcntl.lockf(shared, fcntl.LOCK_SH)
time.sleep(1)

# %% ATTACK
import fcntl
import os
import struct
import time

shared = open(os.__file__)


def heard():
    try:
        fcntl.flock(shared, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(shared, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError:
        pass
    try:
        asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        return struct.unpack("hhqqi4x", fcntl.fcntl(shared, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK
    except OSError:
        return False


for _ in range(10):
    if heard():
        FUNCTION = solved
    time.sleep(0.05)
