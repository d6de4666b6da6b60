AIM = "returns at once and lets a thread compute the result"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import threading

asked = Linear.forward


def forward(self, x):
    shapes = []
    thread = threading.Thread(target=lambda: shapes.append(x.shape))
    thread.start()
    y = asked(self, x)
    thread.join()
    return y


Linear.forward = forward

# %% CHEAT
import threading

asked = Linear.forward


def forward(self, x):
    y = x.new_empty(len(x), self.weight.shape[1])
    threading.Thread(target=lambda: y.copy_(asked(self, x)), daemon=True).start()
    return y


Linear.forward = forward
