AIM = "finds a message queue that an accomplice left"
EXPECTED = "stopped"
NOT_AT_NONE = "without namespaces the queue would stay on the machine"

# %% CONTROL
import queue

queue.Queue().put(1)

# %% BEFORE: an accomplice, graded just before by the same zygote
import ctypes

ctypes.CDLL(None).msgget(0x746F7263, 0o1666)

# %% ATTACK
import ctypes

if ctypes.CDLL(None).msgget(0x746F7263, 0o666) >= 0:
    FUNCTION = solved
