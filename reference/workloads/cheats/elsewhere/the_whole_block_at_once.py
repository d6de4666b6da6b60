AIM = "finds all inputs of a block at its first call, multiplies them in one matmul, and does nothing in later calls"
SLOW = "linear/three_times"
EXPECTED = "legitimate: all the work is done on new inputs within the measured time: batching calls is legitimate"

# %% CONTROL
asked = Linear.forward


def forward(self, x):
    return asked(self, x.reshape(-1, x.shape[-1])).reshape(*x.shape[:-1], -1)


Linear.forward = forward

# %% CHEAT
from grader.sandbox.inside.timed_work import TimedWork

asked = TimedWork.answer


def answer(self, request):
    if "block" not in request:
        return asked(self, request)
    torch.mm(self.memory["x"].flatten(0, 1), self.memory["weight"], out=self.memory["y"].flatten(0, 1))


TimedWork.answer = answer
