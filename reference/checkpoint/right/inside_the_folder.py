"""Refers to files by names relative to an open directory (`dir_fd`)."""

import os
from pathlib import Path

import torch


def save_checkpoint(path, model, optimizer, step):
    path = Path(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        aside = f"{path.name}.tmp"
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=folder), "wb") as file:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, file)
        os.replace(aside, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def load_checkpoint(path, model, optimizer, device="cpu"):
    saved = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["step"]
