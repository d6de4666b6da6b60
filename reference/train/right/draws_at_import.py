"""Draws random numbers when the module is imported, and sets the learning rate after creating the optimizer."""

import torch

from .cruncher import Cruncher
from .sgd import SGD

EXAMPLE = torch.rand(4, 2)


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers).to(device)
    optimizer = SGD(model.parameters())
    for group in optimizer.param_groups:
        group["lr"] = lr
    losses = torch.empty(num_train_steps, device=device)
    for step in range(num_train_steps):
        x, y = get_batch(B=B)
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[step] = loss.detach()
    return model, losses
