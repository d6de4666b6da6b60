"""Takes away what Windows does not have: put first on Python's path as `sitecustomize.py`."""

import os
import signal

for module, names in ((os, ("fork", "forkpty")), (signal, ("SIGALRM", "ITIMER_REAL", "setitimer", "alarm"))):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
