AIM = "makes itself dumpable, requests a death signal, becomes a subreaper and renames itself"
EXPECTED = "stopped"

# %% CONTROL
import threading

threading.current_thread().name = "student"

# %% ATTACK
import ctypes

libc = ctypes.CDLL(None)
libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
libc.prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG
libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
libc.prctl(15, b"grader", 0, 0, 0)  # PR_SET_NAME
