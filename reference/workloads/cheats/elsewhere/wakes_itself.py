AIM = "uses kernel timers to resume itself while it is paused"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import signal

signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)

# %% CHEAT
import ctypes
import signal
import threading
import time

from grader.sandbox.inside.timed_work import TimedWork

libc = ctypes.CDLL(None)
signal.signal(signal.SIGCONT, lambda *_: None)


class Event(ctypes.Structure):
    _fields_ = [
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("how", ctypes.c_int),
        ("rest", ctypes.c_int * 12),
    ]


timers = [ctypes.c_void_p() for _ in range(40)]
for timer in timers:
    libc.timer_create(1, ctypes.byref(Event(None, signal.SIGCONT, 0)), ctypes.byref(timer))
go = threading.Event()


def work(memory):
    while True:
        go.wait()
        go.clear()
        time.sleep(0.002)
        for x, y in zip(memory["x"], memory["y"], strict=False):
            torch.mm(x, memory["weight"], out=y)


asked, helpers = TimedWork.answer, []


def answer(self, request):
    if "block" not in request:
        return asked(self, request)
    if not helpers:
        helpers.append(threading.Thread(target=work, args=(self.memory,), daemon=True))
        helpers[0].start()
    for i, timer in enumerate(timers):
        libc.timer_settime(timer, 0, ctypes.byref((ctypes.c_long * 4)(0, 0, 0, (i + 1) * 2_000_000)), None)
    go.set()


TimedWork.answer = answer
