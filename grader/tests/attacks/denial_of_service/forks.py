AIM = "forks as often as it can"
EXPECTED = "stopped"

# %% CONTROL
import os

assert os.getpid() > 0

# %% ATTACK
import os
import time

for _ in range(80):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
    except OSError:
        break
