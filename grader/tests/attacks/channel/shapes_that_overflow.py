AIM = "sends an empty tensor and an empty array with other dimensions so large that their product overflows"
EXPECTED = "stopped"

# %% CONTROL
import numpy

assert numpy.zeros((0, 3, 5)).size == 0

# %% ATTACK
import os
import struct

import msgspec


def of_shape(kind, *shape):
    return msgspec.msgpack.Ext(kind, msgspec.msgpack.encode(["float32", shape]))


NOTHING = [of_shape(kind, 0, *[2**39] * 7) for kind in (1, 3)]


def FUNCTION(*args, **named):
    outline = msgspec.msgpack.encode({"outcome": "returned", "value": NOTHING})
    while True:
        os.write(3, struct.pack("<II", 4 + len(outline), len(outline)) + outline)
        os.read(3, 2**20)
