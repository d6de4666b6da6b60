AIM = "lets its main thread wait for the processor, which is not counted, while another thread works"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import threading

seen = threading.local()
seen.calls = 0

# %% CHEAT
import os
import threading

asked = Linear.forward


def forward(self, x):
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    found = []
    thread = threading.Thread(target=lambda: found.append(asked(self, x)))
    thread.start()
    while not found:
        pass
    return found[0]


Linear.forward = forward
