AIM = "sees the time at which an accomplice last accessed a device file"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import os
import tempfile

with tempfile.NamedTemporaryFile() as file:
    os.utime(file.name)

# %% BESIDE: an accomplice, graded at the same time
import os
import time

for _ in range(50):
    try:
        os.utime("/dev/full")
    except OSError:
        pass
    time.sleep(0.02)

# %% ATTACK
import os
import time

for _ in range(10):
    if os.stat("/dev/full").st_mtime > time.time() - 1:
        FUNCTION = solved
    time.sleep(0.05)
