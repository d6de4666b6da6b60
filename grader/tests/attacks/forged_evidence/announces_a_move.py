AIM = "writes in place and raises a false audit event for a rename"
WRONG = "checkpoint/writes_in_place"
EXPECTED = "stopped"

# %% CONTROL
import sys

asked = save_checkpoint


def save_checkpoint(path, *args, **kwargs):
    asked(path, *args, **kwargs)
    sys.audit("checkpoint.saved", os.fspath(path))


# %% ATTACK
import sys

asked = save_checkpoint


def save_checkpoint(path, *args, **kwargs):
    asked(path, *args, **kwargs)
    sys.audit("os.rename", f"{path}.tmp", os.fspath(path), -1, -1)
