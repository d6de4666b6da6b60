"""Writes to a temporary folder inside the checkpoint's folder."""

import os
import tempfile
from pathlib import Path

import torch


def save_checkpoint(path, model, optimizer, step):
    path = Path(path)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        aside = Path(folder) / "checkpoint"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, aside)
        os.replace(aside, path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    saved = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["step"]
