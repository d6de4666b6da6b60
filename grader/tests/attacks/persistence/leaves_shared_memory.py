AIM = "finds System V shared memory that an accomplice left"
EXPECTED = "stopped"
NOT_AT_NONE = "without namespaces the segment would stay on the machine"

# %% CONTROL
from multiprocessing import Array

assert callable(Array)

# %% BEFORE: an accomplice, graded just before by the same zygote
import ctypes

ctypes.CDLL(None).shmget(0x746F7263, 4096, 0o1666)

# %% ATTACK
import ctypes

if ctypes.CDLL(None).shmget(0x746F7263, 4096, 0o666) >= 0:
    FUNCTION = solved
