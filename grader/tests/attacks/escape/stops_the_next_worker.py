AIM = "stops the waiting worker for the next test, so that it never answers"
EXPECTED = "stopped by bwrap only"
NOT_AT_NONE = "the grader would wait a minute for each worker that does not start"

# %% CONTROL
import signal

assert signal.Signals.SIGSTOP

# %% ATTACK
import os
import pathlib
import signal

if os.getuid() >= 1_000_000:
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if path.name != str(os.getpid()) and f"Uid:\t{os.getuid()}\t" in (path / "status").read_text():
                os.kill(int(path.name), signal.SIGSTOP)
        except OSError:
            pass
