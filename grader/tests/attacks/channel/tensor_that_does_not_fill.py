AIM = "sends an array of 10¹² elements with four bytes of data, and a tensor with a negative size"
EXPECTED = "stopped"

# %% CONTROL
import numpy

assert numpy.frombuffer(bytes(8), "float32").shape == (2,)

# %% ATTACK
import os
import struct

import msgspec


def of_shape(kind, *shape):
    return msgspec.msgpack.Ext(kind, msgspec.msgpack.encode(["float32", shape]))


outline = msgspec.msgpack.encode({"outcome": "returned", "value": [of_shape(3, 10**6, 10**6), of_shape(1, -1, -1)]})
os.write(3, struct.pack("<II", 8 + len(outline), len(outline)) + outline + b"\x00\x00\x80\x3f")
