AIM = "keeps writing to the storage of its answer from a thread"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
import threading


def work():
    torch.ones(2).sum()


thread = threading.Thread(target=work)
thread.start()
thread.join()

# %% ATTACK
import threading
import time

asked = Linear.forward


def meddle(y):
    until = time.monotonic() + 1
    while time.monotonic() < until:
        y.fill_(time.monotonic() % 1)


def forward(self, x):
    y = asked(self, x)
    threading.Thread(target=meddle, args=(y.detach(),), daemon=True).start()
    return y


Linear.forward = forward
