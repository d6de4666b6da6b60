AIM = "sends unknown extension types and timestamps"
EXPECTED = "stopped"

# %% CONTROL
import datetime

datetime.datetime.now()

# %% ATTACK
import os
import struct

outline = b"\x82\xa7outcome\xa8returned\xa5value\x92\xd4\x63\x00\xd6\xff\x00\x00\x00\x00"
os.write(3, struct.pack("<II", 4 + len(outline), len(outline)) + outline)
