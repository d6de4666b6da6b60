"""Replaces the student's `checkpoint` in katas that build on it, if the student's version fails its tests."""

import tempfile
from os import PathLike
from pathlib import Path

import torch
from torch import nn


def save_checkpoint(path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write the file in a temporary directory next to `path`, then move it."""
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        file = Path(folder) / "checkpoint"
        torch.save([model.state_dict(), optimizer.state_dict(), step], file)
        file.replace(path)


def load_checkpoint(
    path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, device: str | torch.device = "cpu"
) -> int:
    """Load the model, the optimizer and the step, in this order."""
    model_state, optimizer_state, step = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(model_state)
    optimizer.load_state_dict(optimizer_state)
    return int(step)
