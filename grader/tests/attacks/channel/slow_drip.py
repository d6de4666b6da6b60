AIM = "sends its answer one byte at a time"
EXPECTED = "stopped"

# %% CONTROL
import time

for _ in range(5):
    time.sleep(0.01)

# %% ATTACK
import os
import time

os.write(3, b"\x00\x00\x01\x00")
while True:
    os.write(3, b"\xc0")
    time.sleep(0.2)
