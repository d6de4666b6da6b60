AIM = "answers that the kata is not started, or that the grader failed"
EXPECTED = "stopped"


# %% CONTROL
def later():
    raise NotImplementedError


# %% ATTACK
import os
import struct

from grader.sandbox.inside.encoding import encode

frame = encode({"outcome": "inconclusive", "value": None, "error": "the machine's fault", "score": 100.0})
os.write(3, struct.pack("<I", len(frame)) + frame)
