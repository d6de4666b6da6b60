AIM = "sends its answer and one for the next question"
WRONG = "same_storage/values"
EXPECTED = "stopped"

# %% CONTROL
import threading

threading.Timer(0.01, len, ("",)).start()

# %% ATTACK
import os
import struct
import threading


def again():
    from grader.sandbox.inside.encoding import encode
    from torchkata.inside.reply import Reply

    frame = encode(Reply("returned", [True] * 11 + [False] * 3))
    os.write(3, struct.pack("<I", len(frame)) + frame)


threading.Timer(0.1, again).start()
