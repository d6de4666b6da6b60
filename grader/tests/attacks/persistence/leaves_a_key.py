AIM = "finds a key that an accomplice left in the user's kernel keyring"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import ctypes

ctypes.CDLL(None).getuid()

# %% BEFORE: an accomplice, graded just before by the same zygote
import ctypes

syscall = ctypes.CDLL(None, use_errno=True).syscall
for ring in (-4, -5):  # the user's and the session's keyring
    syscall(248, b"user", b"torchkata-left-behind", b"solved", 6, ring)

# %% ATTACK
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if any(libc.syscall(250, 10, ring, b"user", b"torchkata-left-behind", 0) > 0 for ring in (-4, -5)):
    FUNCTION = solved
