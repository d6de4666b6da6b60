"""Kata 7: the training loop."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from .cruncher import Cruncher
from .sgd import SGD  # your own optimizer from kata 5


def train(
    get_batch: Callable[..., tuple[Float[Tensor, "B D"], Float[Tensor, "B"]]],
    D: int,
    num_layers: int,
    B: int,
    num_train_steps: int,
    lr: float,
    device: str | torch.device = "cpu",
) -> tuple[Cruncher, Float[Tensor, "num_train_steps"]]:
    """Fit a `Cruncher(D, num_layers)` to batches by gradient descent.

    First build the model on `device`, before any batch and before any other random draw. Then take exactly
    `num_train_steps` steps of your `SGD` at `lr`. In each step:
    1. call `get_batch(B=B)` once: it returns `(x, y)`, already on `device`;
    2. compute the loss, the mean over the batch of `(model(x) - y) ** 2`;
    3. set the gradients to zero, go backward, step.

    Return the model and the loss of each step as it was before that step's update. Detach the losses from the
    graph: whoever keeps a loss that still carries its graph keeps every activation of that step in memory.

    Example:
        train(get_batch, D=4, num_layers=1, B=32, num_train_steps=3, lr=0.01)
        # (Cruncher(...), tensor([1.92, 1.81, 1.70]))

    No step is left out because a loss is small. `num_train_steps=0` returns an untrained model and no losses.
    Open: a tensor or a list of losses, gradients zeroed at the start or the end of a step, with `None` or zeros.
    """
    raise NotImplementedError
