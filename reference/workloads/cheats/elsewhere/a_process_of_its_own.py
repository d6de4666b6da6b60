AIM = "forks a process that continues while this one is paused"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(1)
asked = Linear.forward


def forward(self, x):
    rows = pool.submit(len, x)
    y = asked(self, x)
    assert rows.result() == len(y)
    return y


Linear.forward = forward

# %% CHEAT
import os

from grader.sandbox.inside.timed_work import TimedWork

asked = TimedWork.answer


def answer(self, request):
    if "block" not in request:
        return asked(self, request)
    if not hasattr(self, "child"):
        self.child = os.fork()
        while self.child == 0:
            if self.memory["y"][0, 0, 0].isnan():
                torch.matmul(self.memory["x"], self.memory["weight"], out=self.memory["y"])
    while self.memory["y"][-1, -1, -1].isnan():
        pass


TimedWork.answer = answer
