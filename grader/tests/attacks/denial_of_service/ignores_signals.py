AIM = "ignores every signal that can be ignored, and loops"
EXPECTED = "stopped"

# %% CONTROL
import signal

signal.signal(signal.SIGUSR1, lambda number, frame: None)

# %% ATTACK
import signal

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def FUNCTION(*args, **named):
    while True:
        pass
