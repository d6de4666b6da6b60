AIM = "kills the waiting worker for the next test, which runs as the same user"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import os

os.getuid()

# %% ATTACK
import os
import pathlib
import signal

if os.getuid() >= 1_000_000:  # user ids reserved for workers
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if path.name != str(os.getpid()) and f"Uid:\t{os.getuid()}\t" in (path / "status").read_text():
                os.kill(int(path.name), signal.SIGKILL)
        except OSError:
            pass
