AIM = "delays the first call while a thread ends Python with exit code 0"
EXPECTED = "stopped"

# %% CONTROL
import threading

threading.Timer(0.05, print, ("a thread was here",)).start()

# %% ATTACK
import os
import threading
import time

threading.Timer(0.05, os._exit, (0,)).start()


def FUNCTION(*args, **named):
    time.sleep(1)
