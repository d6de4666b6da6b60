AIM = "makes state_dict() return a mapping that contains every key"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
from collections import OrderedDict

kept = Linear.state_dict
Linear.state_dict = lambda self, *args, **kwargs: OrderedDict(kept(self, *args, **kwargs))


# %% ATTACK
class Any(dict):
    __hash__ = None

    def __eq__(self, other):
        return True

    def __getitem__(self, key):
        return [1]

    def items(self):
        return iter([("weight", torch.zeros(1))])


Linear.state_dict = lambda self, *args, **kwargs: Any(weight=1)
Linear.named_parameters = lambda self, *args, **kwargs: iter([("weight", 1)])
