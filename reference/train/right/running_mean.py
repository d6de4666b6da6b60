"""Keeps a running mean of the losses for itself, each as a number, and steps at a loss of 0 as at any other."""

from typing import Any

import torch

from .cruncher import Cruncher
from .sgd import SGD


def train(
    get_batch: Any, D: int, num_layers: int, B: int, num_train_steps: int, lr: float, device: Any = "cpu"
) -> tuple[Cruncher, torch.Tensor]:
    model = Cruncher(D, num_layers).to(device)
    optimizer = SGD(model.parameters(), lr=lr)
    mean = torch.zeros((), device=device)
    losses: list[float] = []
    while len(losses) < num_train_steps:
        x, y = get_batch(B=B)
        optimizer.zero_grad(set_to_none=False)
        loss = torch.dot(model(x) - y, model(x) - y) / B
        loss.backward()
        optimizer.step()
        mean = mean.lerp(loss.detach(), 0.1)
        losses.append(loss.item())
    return model, torch.tensor(losses)
