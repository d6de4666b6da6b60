AIM = "computes all of the first block at its first call and nothing afterwards"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
from functools import cache


@cache
def standard_deviation(width):
    return width**-0.5


standard_deviation(8)

# %% CHEAT
from grader.sandbox.inside.timed_work import TimedWork

asked, done = TimedWork.answer, []


def answer(self, request):
    if "block" not in request:
        return asked(self, request)
    if not done:
        torch.matmul(self.memory["x"], self.memory["weight"], out=self.memory["y"])
        done.append(self.memory["y"].clone())
    self.memory["y"].copy_(done[0])


TimedWork.answer = answer
