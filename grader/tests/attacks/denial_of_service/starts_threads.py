AIM = "starts as many threads as it can"
EXPECTED = "stopped"

# %% CONTROL
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(4) as pool:
    assert list(pool.map(abs, [-1, 2])) == [1, 2]

# %% ATTACK
import threading
import time

for _ in range(500):
    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
