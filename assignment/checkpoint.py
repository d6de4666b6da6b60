"""Stop a run, and go on as if nothing had happened."""

import os
from os import PathLike

import torch
from torch import nn


def save_checkpoint(path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write all that the run needs to go on: the model's and the optimizer's state, and the step.

    Example:
        model = nn.Linear(4, 1)
        optimizer = torch.optim.Adam(model.parameters())
        save_checkpoint("run.pt", model, optimizer, step=1000)

    The checkpoint is the file `path` itself, whatever its name ends in; `step` is any whole number.

    Runs are killed in the middle of a write, and disks become full. So write to another name first, beside `path` or in
    a folder beside it, which is on the same file system; then put the finished file in place with `os.replace`. No
    other file changes: `path.with_suffix(".tmp")` for "run.pt" is "run.tmp", which may be another run's.
    Whenever it stops, `path` holds a whole checkpoint, the old one or the new one. An error while saving must reach the
    caller. (A power cut is another matter: what survives it had to be flushed by `os.fsync` first. Nobody asks for it
    here.)

    The model's state are its parameters and its buffers, such as the running mean of a BatchNorm, in every dtype that
    they may have, bfloat16 too. Gradients are not saved. Saving changes nothing in the model, and training on changes
    nothing in what was saved.
    Left to you: the file's layout, further keys in it.
    """
    raise NotImplementedError


def load_checkpoint(
    path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, device: str | torch.device = "cpu"
) -> int:
    """Put a saved state into `model` and `optimizer`, in place, and return the step.

    Example, in another process:
        model = nn.Linear(4, 1)                               # fresh objects, of the same shapes
        optimizer = torch.optim.Adam(model.parameters())
        load_checkpoint("run.pt", model, optimizer)           # 1000: the run goes on bit for bit as it would have

    - Never run code from the file: `torch.load(..., weights_only=True)`.
    - Tensors saved on another device land on `device`: `map_location`.
    - Parameters that are frozen in `model` (`requires_grad=False`) stay frozen, and the others trainable.
    - A truncated file, a missing or unexpected key, or a wrong shape raises. After a truncated file both the model
      and the optimizer are as they were.
    """
    raise NotImplementedError
