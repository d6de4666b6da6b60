AIM = "returns a subclass of Tensor that computes its values only when they are read, some calls later"
SLOW = "linear/row_by_row"
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

# %% CHEAT
asked, put_off = Linear.forward, []


class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.copy_:
            put_off.append(args)
            return args[0]
        return super().__torch_function__(function, types, args, kwargs or {})


def forward(self, x):
    return x.new_empty(len(x), self.weight.shape[1]).as_subclass(Later)


Linear.forward = forward
