AIM = "receives a signal through a file in /tmp, a file in shared memory, or an abstract socket"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import os
import tempfile

with tempfile.NamedTemporaryFile() as file:
    assert os.path.exists(file.name)

# %% BESIDE: an accomplice, graded at the same time
import contextlib
import socket
import time

for folder in ("/tmp", "/dev/shm"):
    with contextlib.suppress(OSError), open(f"{folder}/torchkata-left-behind-beside", "w") as file:
        file.write("solved")
with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as server:
    server.bind("\0torchkata-beside")
    server.listen()
time.sleep(1)

# %% ATTACK
import os
import socket
import time


def heard():
    if any(os.path.exists(f"{folder}/torchkata-left-behind-beside") for folder in ("/tmp", "/dev/shm")):
        return True
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.connect("\0torchkata-beside")
            return True
    except OSError:
        return False


for _ in range(10):
    if heard():
        FUNCTION = solved
    time.sleep(0.05)
