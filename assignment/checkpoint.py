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
    - The process may be killed while writing, and the disk may fill up: write to a temporary file in the directory of
      `path` (or a subdirectory), and call `os.replace`, so that `path` always contains a complete checkpoint, old or
      new. Do not suppress exceptions.
    - Do not add a suffix to `path`. Do not change any other file: "run.tmp" may belong to another run, unlike
      "run.pt.tmp".
    - `step` is any int in `range(2**63)`.
    - The model's state includes buffers, such as BatchNorm's running mean, but not gradients. Tensors may have any
      dtype, even bfloat16.
    - Saving must not modify the model or the optimizer, and further training must not modify the file.
    - The tests train your `cruncher` with your `adagrad`.

    Not specified (any choice is fine): the layout of the file; additional keys; `os.fsync`.
    """
    raise NotImplementedError


def load_checkpoint(
    path: str | PathLike[str], model: nn.Module, optimizer: torch.optim.Optimizer, device: str | torch.device = "cpu"
) -> int:
    """Load a checkpoint into `model` and `optimizer` in place, and return the step as an int.

    Example:
        model = nn.Linear(4, 1)                               # in another process: new objects of the same shapes
        optimizer = torch.optim.Adam(model.parameters())
        load_checkpoint("run.pt", model, optimizer)           # 1000: the run can now be resumed bit for bit

    Details:
    - Loading must not execute code: use `torch.load(..., weights_only=True)`.
    - Load all tensors onto `device`, where `model` is, wherever they were saved (see `map_location`).
    - Do not change `requires_grad` or the training mode.
    - Raise an error if the file is truncated, if a state or the step is missing, or if the saved model's keys or shapes
      differ from `model`'s. A truncated file must change nothing. Other errors may leave a part loaded.
    """
    raise NotImplementedError
