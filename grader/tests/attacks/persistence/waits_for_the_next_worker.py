AIM = "leaves a process that writes to every file of the next worker"
EXPECTED = "stopped"

# %% CONTROL
import time

time.sleep(0.02)

# %% ATTACK
import os
import time

try:
    if os.fork() == 0:
        try:
            os.setsid()
            until = time.monotonic() + 5
            while time.monotonic() < until:
                for folder in ("/tmp", os.path.dirname(os.getcwd())):
                    for name in os.listdir(folder):
                        try:
                            if name.startswith("torchkata-"):
                                path = os.path.join(folder, name, "assignment/KATA.py")
                                open(path, "r+").write("raise SystemExit\n")
                        except OSError:
                            pass
                time.sleep(0.001)
        finally:
            os._exit(0)
except OSError:
    pass
