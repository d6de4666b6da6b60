AIM = "never returns, and runs so many threads that its main thread seems to wait for the processor"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import threading

for _ in range(4):
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()

# %% CHEAT
import threading


def spin():
    while True:
        torch.ones(2**16).sum()


def forward(self, x):
    for _ in range(30):
        threading.Thread(target=spin, daemon=True).start()
    spin()


Linear.forward = forward
