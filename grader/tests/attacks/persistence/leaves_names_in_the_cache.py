AIM = "asks whether an accomplice has looked for a name, since the kernel remembers names that do not exist, too"
EXPECTED = "stopped"

# %% CONTROL
import os

assert not os.path.exists("/usr/mine")

# %% BEFORE: an accomplice, graded just before by the same zygote
import os

os.path.exists("/usr/torchkata-left-behind")

# %% ATTACK
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)


def look(name):
    libc.syscall(437, -100, name.encode(), (ctypes.c_uint64 * 3)(0, 0, 0x20), 24)
    return ctypes.get_errno()


if look(f"/usr/{os.urandom(8).hex()}") == errno.EAGAIN and look("/usr/torchkata-left-behind") == errno.ENOENT:
    FUNCTION = solved
