AIM = "sends a million nested lists"
EXPECTED = "stopped"

# %% CONTROL
import json

assert json.loads("[" * 50 + "]" * 50)

# %% ATTACK
import os
import socket
import struct

line = socket.socket(fileno=os.dup(3))
outline = b"\x82\xa7outcome\xa8returned\xa5value" + b"\x91" * 10**6 + b"\xc0"
line.sendall(struct.pack("<II", 4 + len(outline), len(outline)) + outline)
line.detach()
