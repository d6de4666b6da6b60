AIM = "returns a subclass that pretends to have the right shape and dtype"
WRONG = "linear/last_squeezed"
EXPECTED = "stopped"


# %% CONTROL
class Named(torch.Tensor):
    pass


asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).as_subclass(Named)


# %% ATTACK
class Sly(torch.Tensor):
    shape = property(lambda self: torch.Size((1, 1)))
    dtype = property(lambda self: torch.float64)

    def size(self, *args):
        return torch.Size((1, 1))

    def numel(self):
        return 1


asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).as_subclass(Sly)
