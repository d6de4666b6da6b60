AIM = "prepares one call instead of many"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x[: len(x)])

# %% CHEAT
from grader.sandbox.inside.timed_work import TimedWork

asked = TimedWork.answer


def answer(self, request):
    if "block" not in request:
        return asked(self, request)
    torch.mm(self.memory["x"][0], self.memory["weight"], out=self.memory["y"][0])


TimedWork.answer = answer
