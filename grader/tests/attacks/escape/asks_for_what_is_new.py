AIM = "makes very new or very old system calls that lists of forbidden calls may lack"
EXPECTED = "stopped"

# %% CONTROL
import ctypes

assert ctypes.CDLL(None).getpid() > 0

# %% ATTACK
import ctypes
import errno
import platform

libc = ctypes.CDLL(None, use_errno=True)
numbers = {"open_tree_attr": 467, "listmount": 458, "statmount": 457, "quotactl_fd": 443, "cachestat": 451}
old = {"x86_64": {"io_setup": 206, "tee": 276, "vmsplice": 278}, "aarch64": {"io_setup": 0, "tee": 77, "vmsplice": 75}}
for number in (*numbers.values(), *old.get(platform.machine(), {}).values()):
    if libc.syscall(number, -1, None, None, 0, 0) != -1 or ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
        FUNCTION = solved
