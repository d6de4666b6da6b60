AIM = "sends a plausible answer during import, before the real one"
WRONG = "same_storage/values"
EXPECTED = "stopped"

# %% CONTROL
import os

counter = os.eventfd(0)
os.eventfd_write(counter, 3)
assert os.eventfd_read(counter) == 3

# %% ATTACK
import os
import struct

try:
    from grader.sandbox.inside.encoding import encode
    from torchkata.inside.reply import Reply

    frame = encode(Reply("returned", [True] * 11 + [False] * 3))
    os.write(3, struct.pack("<I", len(frame)) + frame)
except Exception:
    pass
