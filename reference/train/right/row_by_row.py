"""Accumulates the gradients row by row."""

import torch

from .cruncher import Cruncher
from .sgd import SGD


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers).to(torch.device(device))
    optimizer = SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(num_train_steps):
        x, y = get_batch(B=B)
        model.zero_grad()
        losses.append(sum(descend(model, x[i : i + 1], y[i : i + 1], len(y)) for i in range(len(y))))
        optimizer.step()
    return model, torch.tensor(losses)


def descend(model, x, y, rows):
    part = (model(x) - y).square().sum() / rows
    part.backward()
    return part.item()
