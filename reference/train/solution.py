"""The training loop."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from .cruncher import Cruncher
from .sgd import SGD


def train(
    get_batch: Callable[..., tuple[Float[Tensor, "B D"], Float[Tensor, "B"]]],
    D: int,
    num_layers: int,
    B: int,
    num_train_steps: int,
    lr: float,
    device: str | torch.device = "cpu",
) -> tuple[Cruncher, Float[Tensor, "num_train_steps"]]:
    """Train a `Cruncher` by gradient descent on the mean squared error."""
    model = Cruncher(D, num_layers).to(device)
    optimizer = SGD(model.parameters(), lr=lr)
    losses = torch.empty(num_train_steps, device=device)
    for step in range(num_train_steps):
        x, y = get_batch(B=B)
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[step] = loss.detach()
    return model, losses
