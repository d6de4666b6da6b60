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
    """Train a new `Cruncher(D, num_layers)` with your `SGD`.

    Build the model on `device`, then take `num_train_steps` steps:
    1. call `get_batch(B=B)` once, passing B by keyword; it returns `(x, y)`;
    2. compute the loss, the batch mean of `(model(x) - y) ** 2`;
    3. zero the gradients, call `backward()`, and take a step with learning rate `lr`.

    Return a tuple: the model and the losses. Each loss is computed before the update of its step.

    Example:
        def get_batch(*, B):
            x = torch.randn(B, 4)
            return x, x @ torch.arange(4.0)

        model, losses = train(get_batch, D=4, num_layers=0, B=32, num_train_steps=100, lr=0.1)
        len(losses)                              # 100
        losses[-1] < 0.01 * losses[0]            # True
        model.final.weight.flatten().round()     # [0, 1, 2, 3]: the weights that y was computed with

    Details:
    - Build the model before you call `get_batch` or draw any other random numbers. Do not set a seed. Only `SGD` may
      change the weights.
    - `.to(device)` moves a whole model; `with torch.device(device):` creates it there, except tensors that were made by
      `torch.normal(mean, std, size)`. Batches are already on `device`.
    - `get_batch` is a function passed by the caller, not your solution of the kata with that name.
    - Take every step, even after a loss of 0 or infinity. With `num_train_steps=0`, return an untrained model and no
      losses.
    - Detach each loss in its step: until then, it keeps the nodes of its autograd graph in memory (`backward()` frees
      only the saved activations). Do not collect other results.

    Not specified (any choice is fine): whether the losses are a tensor or a list of numbers; whether gradients are
    zeroed at the start or at the end of a step; whether they are zeroed with `None` (the default of `zero_grad()`,
    which frees their memory) or with zeros.
    """
    raise NotImplementedError
