AIM = "becomes root in its own user namespace and mounts over system folders"
EXPECTED = "stopped"
NOT_AT_NONE = "without a sandbox this is harmless, and whether ordinary users may do it depends on the machine"

# %% CONTROL
import ctypes

assert ctypes.CDLL(None).getpid() > 0

# %% ATTACK
import ctypes

libc = ctypes.CDLL(None)
if libc.unshare(0x10000000) == 0:
    FUNCTION = solved
