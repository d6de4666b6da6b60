AIM = "sends 60 million small numbers, which take long to check"
EXPECTED = "stopped"

# %% CONTROL
assert len(bytes(10**6)) == 10**6

# %% ATTACK
import os
import socket
import struct

line = socket.socket(fileno=os.dup(3))
outline = b"\x82\xa7outcome\xa8returned\xa5value\xdd" + struct.pack(">I", 60 * 10**6) + b"\x01" * 60 * 10**6
line.sendall(struct.pack("<II", 4 + len(outline), len(outline)) + outline)
line.detach()
