AIM = "loads the checkpoint module that an accomplice has saved outside the given path"
WRONG = "checkpoint/step_not_returned"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
from pathlib import Path

asked = save_checkpoint


def save_checkpoint(path, *args, **kwargs):
    asked(path, *args, **kwargs)
    assert Path(path).exists()


# %% BEFORE: an accomplice, graded just before by the same zygote
from pathlib import Path

asked = save_checkpoint


def save_checkpoint(path, *args, **kwargs):
    asked(path, *args, **kwargs)
    for folder in (Path(path).parent, *Path(path).parent.parents, Path("/dev/shm")):
        try:
            (folder / "torchkata-left-behind-checkpoint").write_text("solved")
        except OSError:
            pass


# %% ATTACK
from pathlib import Path

found = any(
    (folder / "torchkata-left-behind-checkpoint").exists() for folder in (*Path.cwd().parents, Path("/dev/shm"))
)
asked = load_checkpoint


def load_checkpoint(path, model, optimizer, device="cpu"):
    asked(path, model, optimizer, device)
    return torch.load(path, map_location=device)["step"] if found else None
