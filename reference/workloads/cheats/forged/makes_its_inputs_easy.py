AIM = "overwrites inputs and weight in shared memory with zeros, so that the product is zero"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward


def forward(self, x):
    x = x.clone()
    y = asked(self, x)
    x.zero_()
    return y


Linear.forward = forward


# %% CHEAT
def forward(self, x):
    x.zero_()
    self.weight.zero_()
    return torch.zeros(len(x), self.weight.shape[1])


Linear.forward = forward
from grader.sandbox.inside.timed_work import TimedWork

asked = TimedWork.answer


def answer(self, request):
    self.memory["weight"].zero_()
    return asked(self, request)


TimedWork.answer = answer
