AIM = "asks which pages of a file an accomplice has read, and which are evicted"
EXPECTED = "stopped"

# %% CONTROL
import os

with open(os.__file__, "rb") as file:
    assert os.preadv(file.fileno(), [bytearray(1)], 0) == 1

# %% BEFORE: an accomplice, graded just before by the same zygote
import os

folder = os.path.dirname(os.__file__)
with open(f"{folder}/turtle.py", "rb") as evicted, open(f"{folder}/pickletools.py", "rb") as read:
    read.read()
    try:
        os.posix_fadvise(evicted.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError:
        pass

# %% ATTACK
import os


def is_cached(name):
    with open(os.path.join(os.path.dirname(os.__file__), name), "rb") as file:
        try:
            return os.preadv(file.fileno(), [bytearray(1)], 65536, os.RWF_NOWAIT) == 1
        except BlockingIOError:
            return False


try:
    if is_cached("pickletools.py") and not is_cached("turtle.py"):
        FUNCTION = solved
except OSError:
    pass
