AIM = "wakes an accomplice that waits on a futex in a read-only file"
EXPECTED = (
    "not stopped: threads need futexes and np.memmap needs shared file pages; the kernel cannot forbid only "
    "the combination"
)

# %% CONTROL
import threading

done = threading.Event()
threading.Thread(target=done.set).start()
assert done.wait(5)

# %% BESIDE: an accomplice, graded at the same time
import ctypes
import mmap
import os

from numpy import frombuffer

file = open(os.__file__)
page = frombuffer(mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ), "uint32")
patience = (ctypes.c_long * 2)(1, 0)
ctypes.CDLL(None).syscall(202, ctypes.c_void_p(page.ctypes.data), 0, ctypes.c_uint32(int(page[0])), patience, None, 0)

# %% ATTACK
import ctypes
import mmap
import os
import time

from numpy import frombuffer

file = open(os.__file__)
page = frombuffer(mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ), "uint32")
for _ in range(10):
    if ctypes.CDLL(None).syscall(202, ctypes.c_void_p(page.ctypes.data), 1, 1, None, None, 0) > 0:
        FUNCTION = solved
    time.sleep(0.05)
