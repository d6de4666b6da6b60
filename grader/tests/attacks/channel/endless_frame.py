AIM = "sends an endless stream of bytes"
EXPECTED = "stopped"

# %% CONTROL
import io

io.BytesIO().write(bytes(2**20))

# %% ATTACK
import os

os.write(3, b"\x00\x00\x00\x04")
while True:
    os.write(3, bytes(2**20))
