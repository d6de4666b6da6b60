AIM = "announces a frame of 4 GiB"
EXPECTED = "stopped"

# %% CONTROL
import struct

assert struct.unpack("<I", b"\xff\xff\xff\xff") == (2**32 - 1,)

# %% ATTACK
import os

os.write(3, b"\xff\xff\xff\xff")
