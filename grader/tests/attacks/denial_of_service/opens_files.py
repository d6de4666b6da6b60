AIM = "opens as many files as it can"
EXPECTED = "stopped"

# %% CONTROL
import os

for _ in range(1000):
    os.close(os.open(os.devnull, os.O_RDONLY))

# %% ATTACK
import os

kept = []
try:
    while len(kept) < 4096:
        kept.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
