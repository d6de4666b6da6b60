"""Also saves a format version and torch's random state, but can load files that contain neither."""

import os

import torch

LAYOUT = 2


def save_checkpoint(path, model, optimizer, step):
    content = {
        "version": LAYOUT,
        "state": {"model": model.state_dict(), "optimizer": optimizer.state_dict()},
        "step": step,
        "rng": torch.get_rng_state(),
    }
    aside = f"{os.fspath(path)}.writing"
    torch.save(content, aside)
    os.replace(aside, path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    saved = torch.load(path, map_location=device, weights_only=True)
    if saved.get("version", LAYOUT) > LAYOUT:
        raise ValueError("the file was written by a newer program")
    step = saved["step"]
    model.load_state_dict(saved["state"]["model"])
    optimizer.load_state_dict(saved["state"]["optimizer"])
    if "rng" in saved:
        torch.set_rng_state(saved["rng"].cpu())
    return step
