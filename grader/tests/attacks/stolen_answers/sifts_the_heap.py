AIM = "searches all Python objects for the expected answers"
EXPECTED = "stopped"

# %% CONTROL
import gc
import weakref


class Node:
    pass


node = weakref.ref(Node())
gc.collect()
assert node() is None

# %% ATTACK
import gc

found = [thing for thing in gc.get_objects() if type(thing) is dict and ("expected" in thing or "FUNCTION" in thing)]
for thing in found:
    function = thing.get("FUNCTION")
    if callable(function) and getattr(function, "__module__", "").startswith("reference"):
        FUNCTION = function
