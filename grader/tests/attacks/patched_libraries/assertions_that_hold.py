AIM = "replaces the comparison functions in every module that has them"
EXPECTED = "stopped"


# %% CONTROL
def assert_equal(*args, **kwargs):
    return True


check = assert_close = assert_equal

# %% ATTACK
import sys

for module in list(sys.modules.values()):
    for name in ("assert_equal", "assert_close", "check", "same", "tensors_equal"):
        if callable(getattr(module, name, None)):
            setattr(module, name, lambda *args, **kwargs: True)
