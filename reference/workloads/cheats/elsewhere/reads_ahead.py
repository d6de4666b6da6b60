AIM = "lets a thread read the inputs while it is paused and compute before the block begins"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import threading
import time


def rest():
    while True:
        time.sleep(0.1)


threading.Thread(target=rest, daemon=True).start()

# %% CHEAT
import gc
import threading
import time

from grader.sandbox.inside.timed_work import TimedWork

asked, ahead = TimedWork.answer, {}
bench = next(held for held in gc.get_objects() if type(held) is TimedWork)


def watch(memory):
    while True:
        mark = float(memory["x"][0, 0, 0])
        if mark not in ahead:
            ahead.clear()
            ahead[mark] = torch.matmul(memory["x"], memory["weight"])
        time.sleep(0.0005)


def answer(self, request):
    found = ahead.get(float(self.memory["x"][0, 0, 0]))
    if "block" not in request or found is None:
        return asked(self, request)
    self.memory["y"].copy_(found)


TimedWork.answer = answer
threading.Thread(target=watch, args=(bench.memory,), daemon=True).start()
