AIM = "sends an error message that is not valid UTF-8"
EXPECTED = "stopped"

# %% CONTROL
assert b"\xff".decode("utf-8", "replace")

# %% ATTACK
import os
import struct

outline = b"\x82\xa7outcome\xa6raised\xa5error\xa4\xff\xfe\xed\xa0"
os.write(3, struct.pack("<II", 4 + len(outline), len(outline)) + outline)
