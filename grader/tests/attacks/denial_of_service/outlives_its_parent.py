AIM = "leaves a detached process that keeps the channel open"
EXPECTED = "stopped"

# %% CONTROL
import threading
import time

threading.Thread(target=time.sleep, args=(0.2,), daemon=True).start()

# %% ATTACK
import os
import time

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(30)
        os._exit(0)
except OSError:
    pass
os._exit(0)
