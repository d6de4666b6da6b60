AIM = "creates mount, network and PID namespaces without a user namespace, or enters its parent's"
EXPECTED = "stopped"

# %% CONTROL
import os

os.getppid()

# %% ATTACK
import ctypes
import os

libc = ctypes.CDLL(None)
got = [libc.unshare(flag) == 0 for flag in (0x00020000, 0x40000000, 0x20000000, 0x08000000)]
for name in ("mnt", "pid", "net", "user"):
    try:
        space = os.open(f"/proc/{os.getppid()}/ns/{name}", os.O_RDONLY)
        got.append(libc.setns(space, 0) == 0)
    except OSError:
        pass
if any(got):
    FUNCTION = solved
