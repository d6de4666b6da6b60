AIM = "attaches to its parent, reads its memory and changes its limits"
EXPECTED = "stopped"

# %% CONTROL
import resource

resource.getrlimit(resource.RLIMIT_NOFILE)

# %% ATTACK
import ctypes
import os
import resource

libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


buffer = ctypes.create_string_buffer(8)
ours, theirs = Piece(ctypes.addressof(buffer), 8), Piece(id(None), 8)
got = [parent > 0 and libc.process_vm_readv(parent, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0) == 8]
try:
    got.append(bool(parent > 0 and resource.prlimit(parent, resource.RLIMIT_NOFILE)))
except OSError:
    pass
if parent > 0 and libc.ptrace(0x4206, parent, 0, 0) == 0:  # PTRACE_SEIZE, which does not stop it
    libc.ptrace(17, parent, 0, 0)
    got.append(True)
if any(got):
    FUNCTION = solved
