AIM = "never finishes its import"
EXPECTED = "stopped"

# %% CONTROL
import time

time.sleep(0.01)

# %% ATTACK
import time

while True:
    time.sleep(3600)
