AIM = "detects an accomplice's queued signals because it can queue none itself"
EXPECTED = "stopped"
NOT_AT_NONE = "without namespaces, the kernel counts all queued signals of the user together"

# %% CONTROL
import os
import signal

signal.signal(signal.SIGUSR1, lambda _number, _frame: None)
os.kill(os.getpid(), signal.SIGUSR1)

# %% BESIDE: an accomplice, graded at the same time
import ctypes
import os
import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, {40})
signal_40 = ctypes.create_string_buffer(b"\x28" + bytes(7) + b"\xff\xff\xff\xff" + bytes(116))
while ctypes.CDLL(None).syscall(129, os.getpid(), 40, signal_40) == 0:
    pass
time.sleep(1)

# %% ATTACK
import ctypes
import os
import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, {40})
signal_40 = ctypes.create_string_buffer(b"\x28" + bytes(7) + b"\xff\xff\xff\xff" + bytes(116))
for _ in range(10):
    if ctypes.CDLL(None).syscall(129, os.getpid(), 40, signal_40) < 0:
        FUNCTION = solved
    time.sleep(0.05)
