AIM = "replaces itself by a new Python with a preloaded library, on the same channel"
EXPECTED = "stopped"

# %% CONTROL
import os
import sys

os.environ["LD_PRELOAD_NOT"] = "1"

# %% ATTACK
import os
import sys

try:
    os.set_inheritable(3, True)
    os.execve(
        sys.executable or "/usr/bin/python3",
        ["python3", "-c", "import os; os.write(3, b'\\x01\\x00\\x00\\x00\\xc3')"],
        {"LD_PRELOAD": "./forged.so", "PYTHONPATH": "."},
    )
except (OSError, TypeError):
    pass
