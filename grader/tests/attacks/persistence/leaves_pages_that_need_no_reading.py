AIM = "counts the page faults for which the disk is read, after an accomplice has read one file and evicted another"
EXPECTED = "stopped"

# %% CONTROL
import resource

resource.getrlimit(resource.RLIMIT_NOFILE)

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
import mmap
import os
import resource


def count_faults(name):
    with open(os.path.join(os.path.dirname(os.__file__), name), "rb") as file:
        page = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        page[65536]
        return resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before


try:
    if count_faults("pickletools.py") == 0 < count_faults("turtle.py"):
        FUNCTION = solved
except OSError:
    pass
