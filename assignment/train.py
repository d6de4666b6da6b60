"""The training loop."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from .cruncher import Cruncher
from .sgd import SGD  # your own optimizer


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

    First build the model on `device`, before any batch and before any other random draw: tensors lie on the CPU unless
    they are made with `device=` (or within `with torch.device(device):`) or moved with `.to(device)`, which moves a
    whole model, too. Then take exactly `num_train_steps` steps of your `SGD` at the learning rate `lr`. In each step:
    1. call `get_batch(B=B)` once, with the argument's name: it returns `(x, y)`, already on `device`. This `get_batch`
       is whatever function the caller gives you, and not your kata of that name;
    2. compute the loss, the mean over the batch of `(model(x) - y) ** 2`;
    3. set the gradients to zero, go backward, step. `optimizer.zero_grad()` sets each `p.grad` to `None`, which frees
       its memory; `zero_grad(set_to_none=False)` fills it with zeros.

    Return a tuple: the model, and the loss of each step as it was before that step's update. Detach the losses from the
    graph: a loss that is kept with its graph keeps the graph's nodes in memory, so memory grows with every step.
    (`backward()` frees the activations that the graph has saved, but not the nodes. A graph that no backward pass has
    gone through keeps its activations as well.)

    Example:
        def get_batch(*, B):
            x = torch.randn(B, 4)
            return x, x @ torch.arange(4.0)

        model, losses = train(get_batch, D=4, num_layers=0, B=32, num_train_steps=100, lr=0.1)
        len(losses)                              # 100
        losses[-1] < 0.01 * losses[0]            # True
        model.final.weight.flatten().round()     # [0, 1, 2, 3]: what y was made with

    No step is left out because a loss is small. `num_train_steps=0` returns an untrained model and no losses.
    Left to you: a tensor or a list of losses, gradients zeroed at the start or the end of a step, with `None` or zeros.
    """
    raise NotImplementedError
