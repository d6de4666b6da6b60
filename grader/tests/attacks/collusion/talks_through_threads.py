AIM = "detects an accomplice's threads because it can start fewer itself"
EXPECTED = "stopped"
NOT_AT_NONE = "without namespaces, the kernel counts all threads of the user together"

# %% CONTROL
import threading

done = threading.Event()
several = [threading.Thread(target=done.wait) for _ in range(4)]
for thread in several:
    thread.start()
done.set()

# %% BESIDE: an accomplice, graded at the same time
import threading
import time

threading.stack_size(2**16)
for _ in range(57):
    threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
time.sleep(1)

# %% ATTACK
import threading
import time

threading.stack_size(2**16)
time.sleep(0.2)
try:
    for _ in range(30):
        threading.Thread(target=time.sleep, args=(0.2,), daemon=True).start()
except RuntimeError:
    FUNCTION = solved
