AIM = "sends 60 MB of empty lists, which take fifty times as much memory when decoded"
EXPECTED = "stopped"

# %% CONTROL
kept = [[] for _ in range(10_000)]

# %% ATTACK
import os
import socket
import struct

line = socket.socket(fileno=os.dup(3))
outline = b"\x82\xa7outcome\xa8returned\xa5value\xdd" + struct.pack(">I", 60 * 10**6) + b"\x90" * 60 * 10**6
line.sendall(struct.pack("<II", 4 + len(outline), len(outline)) + outline)
line.detach()
