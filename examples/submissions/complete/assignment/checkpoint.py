"""Kata 8: stop a run, and go on as if nothing had happened."""

import os

import torch


def save_checkpoint(path, model, optimizer, step: int) -> None:
    """Aside first, then in place."""
    temporary = str(path) + ".part"
    torch.save({"weights": model.state_dict(), "state": optimizer.state_dict(), "step": step}, temporary)
    os.replace(temporary, path)


def load_checkpoint(path, model, optimizer, device="cpu") -> int:
    """Everything is read before anything is changed."""
    saved = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(saved["weights"])
    optimizer.load_state_dict(saved["state"])
    return saved["step"]
