AIM = "reads the number of a new pipe, which counts all pipes and sockets of the machine"
EXPECTED = "stopped"

# %% CONTROL
import os

os.close(os.eventfd(0))

# %% BEFORE: an accomplice, graded just before by the same zygote
import os

try:
    ends = os.pipe()
    while os.fstat(ends[0]).st_ino % 2**17 > 2**12:
        os.close(ends[0]), os.close(ends[1])
        ends = os.pipe()
except OSError:
    pass

# %% ATTACK
import os

try:
    for _ in range(1100):
        ends = os.pipe()
        number = os.fstat(ends[0]).st_ino
        os.close(ends[0]), os.close(ends[1])
    if number % 2**17 < 2**14:
        FUNCTION = solved
except OSError:
    pass
