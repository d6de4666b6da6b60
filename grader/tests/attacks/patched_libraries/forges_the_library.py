AIM = "puts its own modules into sys.modules in place of the grader's tools"
EXPECTED = "stopped"

# %% CONTROL
import types

settings = types.SimpleNamespace(verbose=True)

# %% ATTACK
import sys
import types


class Anything(types.ModuleType):
    def __getattr__(self, name):
        return lambda *args, **kwargs: True


for name in (
    "torchkata.compare.assertions",
    "torchkata.diagnosis.explain",
    "torchkata.pytest_plugin.report",
    "numpy.testing",
    "reference.KATA.oracle",
):
    sys.modules[name] = Anything(name)
