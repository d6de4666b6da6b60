AIM = "reads how many huge pages all processes have used"
EXPECTED = "stopped"
NOT_AT_NONE = "without namespaces all of /sys is visible"

# %% CONTROL
import mmap

with mmap.mmap(-1, 2**21, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
    pages.madvise(mmap.MADV_HUGEPAGE)
    pages[0] = 1

# %% BEFORE: an accomplice, graded just before by the same zygote
import mmap

counter = "/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/stats/anon_fault_alloc"
try:
    while int(open(counter).read()) % 1024 > 64:
        with mmap.mmap(-1, 2**23, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
            pages.madvise(mmap.MADV_HUGEPAGE)
            for start in range(0, 2**23, 2**21):
                pages[start] = 1
except OSError:
    pass

# %% ATTACK
counter = "/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/stats/anon_fault_alloc"
try:
    if int(open(counter).read()) % 1024 < 200:
        FUNCTION = solved
except OSError:
    pass
