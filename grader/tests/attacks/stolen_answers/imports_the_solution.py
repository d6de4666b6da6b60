AIM = "imports the instructor's solution by name"
EXPECTED = "stopped"

# %% CONTROL
import importlib

importlib.import_module("json")

# %% ATTACK
for name in ("reference.KATA.solution", "torchkata.reference.KATA.solution", "KATA.solution"):
    try:
        FUNCTION = __import__(name, fromlist=["FUNCTION"]).FUNCTION
    except ImportError:
        pass
