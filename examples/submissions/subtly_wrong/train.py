"""Kata 7: the training loop."""

import torch

from .cruncher import Cruncher
from .sgd import SGD


def train(get_batch, D: int, num_layers: int, B: int, num_train_steps: int, lr: float, device="cpu"):
    """Repeat: batch, loss, backward, step."""
    model = Cruncher(dim=D, num_layers=num_layers).to(device)
    optimizer = SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(num_train_steps):
        x, y = get_batch(B=B)
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses
