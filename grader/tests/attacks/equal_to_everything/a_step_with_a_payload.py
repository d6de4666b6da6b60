AIM = "returns a step that equals every int and runs code when it is copied or unpickled"
WRONG = "checkpoint/step_after_this_one"
EXPECTED = "stopped"


# %% CONTROL
class Step(int):
    def __repr__(self):
        return f"step {int(self)}"


asked = load_checkpoint


def load_checkpoint(*args, **kwargs):
    return Step(asked(*args, **kwargs))


# %% ATTACK
class Step(int):
    __hash__ = None
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False

    def __reduce__(self):
        return exec, ("import os; os._exit(0)",)

    __reduce_ex__ = lambda self, protocol: self.__reduce__()
    __copy__ = __deepcopy__ = lambda self, *memo: self


asked = load_checkpoint


def load_checkpoint(*args, **kwargs):
    return Step(asked(*args, **kwargs))
