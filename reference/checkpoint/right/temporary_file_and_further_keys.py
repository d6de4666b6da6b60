"""Uses tempfile to name the temporary file, and saves additional keys, such as the random generator's state."""

import tempfile
import time
from pathlib import Path

import torch


def save_checkpoint(path, model, optimizer, step):
    path = Path(path)
    content = {
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "global_step": torch.tensor(step),
        "random": torch.get_rng_state(),
        "torch": str(torch.__version__),
        "time": time.time(),
    }
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix="checkpoint-", delete=False) as file:
        try:
            torch.save(content, file)
            file.flush()
        except BaseException:
            Path(file.name).unlink()
            raise
    Path(file.name).rename(path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    saved = torch.load(Path(path), map_location=torch.device(device), weights_only=True)
    optimizer.load_state_dict(saved["optimizer_state_dict"])
    model.load_state_dict(saved["model_state_dict"], strict=True)
    return saved["global_step"].item()
