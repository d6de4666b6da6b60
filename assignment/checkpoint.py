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
    - The process may be killed while it is writing, and the disk may fill up. Therefore, write to a temporary file in
      the directory of `path` or in a subdirectory of it, then call `os.replace`, so that `path` always contains a
      complete checkpoint, either the old one or the new one. (`os.fsync` is not required.) Do not suppress exceptions.
    - Do not add a suffix to `path`. Do not change any other file: `path.with_suffix(".tmp")` may belong to another run.
    - `step` can be any integer.
    - The model's state includes buffers, such as the running mean of BatchNorm, but not the gradients. The tensors may
      have any dtype, such as bfloat16.
    - Saving must not modify the model or the optimizer, and further training must not modify the file.

    Not specified (any choice is fine): the layout of the file; whether it contains additional keys.
    """
    raise NotImplementedError


def load_checkpoint(
    path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, device: str | torch.device = "cpu"
) -> int:
    """Load a checkpoint into `model` and `optimizer` in place, and return the step as an int.

    Example, in another process:
        model = nn.Linear(4, 1)                               # new objects with the same shapes
        optimizer = torch.optim.Adam(model.parameters())
        load_checkpoint("run.pt", model, optimizer)           # 1000: the run can now be resumed bit for bit

    Details:
    - Loading must not execute code from the file, so use `torch.load(..., weights_only=True)`.
    - Load all tensors onto `device`, even if they were saved on another device (see `map_location`).
    - Do not change `requires_grad` or the training mode.
    - Raise an error if the file is truncated, if the model's state, the optimizer's state or the step is missing from
      it, or if the keys or shapes of the saved model do not match those of `model`. A truncated file must change
      neither the model nor the optimizer.
    """
    raise NotImplementedError
