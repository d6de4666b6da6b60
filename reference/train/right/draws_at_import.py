"""Makes an example when the file is imported, which draws random numbers."""

from collections.abc import Callable

import torch
from torch import Tensor

from .cruncher import Cruncher
from .sgd import SGD


def train(
    get_batch: Callable[..., tuple[Tensor, Tensor]],
    D: int,
    num_layers: int,
    B: int,
    num_train_steps: int,
    lr: float,
    device: str | torch.device = "cpu",
) -> tuple[Cruncher, Tensor]:
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


EXAMPLE = torch.rand(4, 2)
