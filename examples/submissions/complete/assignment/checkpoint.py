"""Kata 8: save and resume a run."""

import os

import torch


def save_checkpoint(path, model, optimizer, step: int) -> None:
    """Write a temporary file, which then replaces the old one."""
    temporary = str(path) + ".part"
    torch.save({"weights": model.state_dict(), "state": optimizer.state_dict(), "step": step}, temporary)
    os.replace(temporary, path)


def load_checkpoint(path, model, optimizer, device="cpu") -> int:
    """Read the whole file, then change the model and the optimizer."""
    saved = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(saved["weights"])
    optimizer.load_state_dict(saved["state"])
    return saved["step"]
