"""Save and resume a training run."""

import os
from os import PathLike

import torch
from torch import nn


def save_checkpoint(path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Save the model's state, the optimizer's state and the step to the file `path`.

    Example:
        model = nn.Linear(4, 1)
        optimizer = torch.optim.Adam(model.parameters())
        save_checkpoint("run.pt", model, optimizer, step=1000)

    Details:
    - A run may be killed while it writes, and a disk may fill up. So write a temporary file in `path`'s folder or in a
      folder inside it, then call `os.replace`. `path` then always contains a complete checkpoint, either the old one or
      the new one. (`os.fsync` is not required.) Errors must reach the caller.
    - Do not add a suffix to `path`. Do not change any other file: `path.with_suffix(".tmp")` may belong to another run.
    - `step` can be any integer.
    - The model's state includes buffers, such as BatchNorm's running mean, but no gradients. The tensors may have any
      dtype, such as bfloat16.
    - Saving must not modify the model or optimizer; further training must not modify the file.

    Not specified (either is fine): the layout of the file; whether it contains additional keys.
    """
    raise NotImplementedError


def load_checkpoint(
    path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, device: str | torch.device = "cpu"
) -> int:
    """Load a saved state into `model` and `optimizer`, in place, and return the step as an int.

    Example, in another process:
        model = nn.Linear(4, 1)                               # new objects with the same shapes
        optimizer = torch.optim.Adam(model.parameters())
        load_checkpoint("run.pt", model, optimizer)           # 1000: the run continues bit for bit

    Details:
    - Do not run code from the file: use `torch.load(..., weights_only=True)`.
    - Load all tensors onto `device`, even if they were saved on another device. Use `map_location`.
    - Do not change `requires_grad` or the training mode.
    - Raise an error if the file is truncated, if the model's state, the optimizer's state or the step is missing from
      it, or if keys or shapes of the saved model and of `model` differ. A truncated file must change neither the model
      nor the optimizer.
    """
    raise NotImplementedError
