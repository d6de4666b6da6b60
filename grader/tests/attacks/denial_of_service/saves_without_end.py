AIM = "writes checkpoints until the disk is full"
WRONG = "checkpoint/step_not_returned"
EXPECTED = "stopped"
NOT_AT_NONE = "without namespaces, this would fill the machine's /tmp"

# %% CONTROL
asked = save_checkpoint


def save_checkpoint(path, *args, **kwargs):
    for i in range(2):
        asked(f"{path}.{i}", *args, **kwargs)
    asked(path, *args, **kwargs)


# %% ATTACK
import itertools


def save_checkpoint(path, *args, **kwargs):
    for i in itertools.count():
        with open(f"{path}.{i}", "wb") as file:
            file.write(bytes(2**24))
