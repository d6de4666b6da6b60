AIM = "returns a subclass whose __torch_function__ returns True for every comparison"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"


# %% CONTROL
class Counted(torch.Tensor):
    calls = 0

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.calls += 1
        return super().__torch_function__(function, types, args, kwargs or {})


asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).as_subclass(Counted)


# %% ATTACK
class Sly(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") in ("eq", "equal", "allclose", "__eq__", "le", "all"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})


asked = Linear.forward
Linear.forward = lambda self, x: asked(self, x).as_subclass(Sly)
