AIM = "maps 2 GiB of anonymous memory that Python does not count"
EXPECTED = "stopped"

# %% CONTROL
import mmap

with mmap.mmap(-1, 4096) as page:
    page[0] = 1

# %% ATTACK
import mmap

kept = []
for _ in range(32):
    kept.append(mmap.mmap(-1, 2**26))
    for page in range(0, 2**26, 4096):
        kept[-1][page] = 1
