AIM = "overrides detach, clone and as_subclass, so that no plain copy can be made"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).clone().contiguous()


# %% ATTACK
class Sly(torch.Tensor):
    __hash__ = None

    def detach(self):
        return self

    def clone(self, **kwargs):
        return self

    def as_subclass(self, kind):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return __import__("numpy").zeros(1)

    def __eq__(self, other):
        return True


asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).as_subclass(Sly)
