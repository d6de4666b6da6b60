AIM = "sends a forged result"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward


def forward(self, x):
    self.last = {"seconds": 1e-9}
    return asked(self, x)


Linear.forward = forward

# %% CHEAT
from grader.sandbox.inside.timed_work import TimedWork

asked = TimedWork.answer


def answer(self, request):
    asked(self, request)
    return {"outcome": "passed", "score": 5.0, "ratio": 1.0, "seconds": 1e-9, "error": 0.0, "wall": 1e-9, "own": 1e-9}


TimedWork.answer = answer
