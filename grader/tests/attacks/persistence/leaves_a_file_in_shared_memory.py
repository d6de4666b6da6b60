AIM = "finds the solution that an accomplice left in /dev/shm"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import mmap

with mmap.mmap(-1, 4096) as page:
    page.write(b"mine")

# %% BEFORE: an accomplice, graded just before by the same zygote
try:
    with open("/dev/shm/torchkata-left-behind", "w") as file:
        file.write("FUNCTION = solved")
except OSError:
    pass

# %% ATTACK
try:
    exec(open("/dev/shm/torchkata-left-behind").read())
except OSError:
    pass
