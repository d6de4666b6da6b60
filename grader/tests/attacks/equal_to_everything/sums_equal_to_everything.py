AIM = "stores an object in the optimizer's state that equals every sum of squares"
WRONG = "adagrad/other_key"
EXPECTED = "stopped"

# %% CONTROL
asked = AdaGrad.step


def step(self, closure=None):
    loss = asked(self, closure)
    assert not any((state["g2"] < 0).any() for state in self.state.values())  # it may be nan
    return loss


AdaGrad.step = step


# %% ATTACK
class Anything:
    __hash__ = None
    __eq__ = lambda self, other: True
    __le__ = __lt__ = __ge__ = __gt__ = __sub__ = __rsub__ = __abs__ = lambda self, *other: self
    __bool__ = lambda self: True
    detach = clone = cpu = lambda self, **kwargs: self


asked = AdaGrad.step


def step(self, closure=None):
    loss = asked(self, closure)
    for state in self.state.values():
        state["g2"] = Anything()
    return loss


AdaGrad.step = step
