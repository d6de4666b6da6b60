AIM = "treats the numbers of all calls as multiples of the first call's and updates them with one multiplication"
SLOW = "sgd/copies_twice"
EXPECTED = "stopped"

# %% CONTROL
asked = SGD.step


@torch.no_grad()
def step(self, closure=None):
    assert all(p.is_contiguous() for group in self.param_groups for p in group["params"])
    return asked(self, closure)


SGD.step = step

# %% CHEAT
from grader.sandbox.inside.timed_work import TimedWork

asked, base = TimedWork.answer, []


def answer(self, request):
    if "block" not in request:
        return asked(self, request)
    p, grad = self.memory["p"], self.memory["grad"]
    if not base:
        base.append(torch.stack([p[0], grad[0], torch.ones_like(p[0])]))
    first = base[0]
    scale = (p[:, 0] - p[:, 1]) / (first[0, 0] - first[0, 1])
    shift = p[:, 0] - scale * first[0, 0]
    torch.mm(torch.stack([scale, -self.request.size.rate * grad[:, 0] / first[1, 0], shift], 1), first, out=p)


TimedWork.answer = answer
