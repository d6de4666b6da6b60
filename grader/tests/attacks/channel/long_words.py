AIM = "fills every text in its answers with a million characters, bypassing the truncation in its own process"
EXPECTED = "stopped"

# %% CONTROL
asked = FUNCTION


def FUNCTION(*args, **named):
    print("words " * 1000)
    return asked(*args, **named)


# %% ATTACK
import os
import socket
import struct

import msgspec

line = socket.socket(fileno=os.dup(3))


def FUNCTION(*args, **named):
    words = "words " * 55_000
    outline = msgspec.msgpack.encode({"outcome": "raised", "error": words, "file": words, "line": 7, "source": words})
    while True:
        line.sendall(struct.pack("<II", 4 + len(outline), len(outline)) + outline)
        line.recv(2**20)
