"""Checkpoints that are replaced atomically and do not run code when they are loaded."""

import os
from os import PathLike

import torch
from torch import nn


def save_checkpoint(path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write a temporary file, then move it to `path`."""
    path = os.fspath(path)
    aside = f"{path}.{os.getpid()}.tmp"
    try:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, aside)
        os.replace(aside, path)
    except BaseException:
        if os.path.exists(aside):
            os.remove(aside)
        raise


def load_checkpoint(
    path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, device: str | torch.device = "cpu"
) -> int:
    """Read the whole file, then load the state of the model and the optimizer."""
    saved = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return int(saved["step"])
