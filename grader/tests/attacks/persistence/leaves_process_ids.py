AIM = "finds process ids in the objects of the process that forks workers: they count an accomplice's threads"
EXPECTED = "stopped"

# %% CONTROL
import gc

assert gc.get_objects()

# %% BEFORE: an accomplice, graded just before by the same zygote
import threading

for _ in range(3000):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()

# %% ATTACK
import gc

ids = [thing.pid for thing in gc.get_objects() if type(thing).__name__ == "Worker"]
if max(ids, default=0) > 2500:
    FUNCTION = solved
