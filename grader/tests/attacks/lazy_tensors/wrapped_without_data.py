AIM = "returns a wrapper without data, whose values are computed on access"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: (lambda: asked(self, x))()


# %% ATTACK
class Lazy(torch.Tensor):
    @staticmethod
    def __new__(cls, like):
        return torch.Tensor._make_wrapper_subclass(cls, like.shape, dtype=like.dtype)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return torch.ones(())


asked = Linear.forward
Linear.forward = lambda self, x: Lazy(asked(self, x))
