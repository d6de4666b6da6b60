AIM = "computes only the last product behind which batches are copied, from powers of the factor"
SLOW = "get_batch/through_lists"
EXPECTED = "stopped"

# %% CONTROL
asked = torch.mm
torch.mm = lambda *args, **options: asked(*args, **options)

# %% CHEAT
import sys

asked = torch.mm


def mm(factor, product, out):
    caller = sys._getframe(1)
    calls = len(caller.f_back.f_locals["memory"]["batch"])
    if caller.f_locals["call"] == calls - 1:
        result = caller.f_locals["products"][0]
        while calls:
            if calls % 2:
                result = asked(factor, result)
            factor = asked(factor, factor)
            calls //= 2
        out.copy_(result)
    return out


torch.mm = mm
