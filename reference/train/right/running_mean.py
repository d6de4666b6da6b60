"""Keeps a running mean of the losses in addition to each loss."""

import torch

from .cruncher import Cruncher
from .sgd import SGD


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers).to(device)
    optimizer = SGD(model.parameters(), lr=lr)
    mean = torch.zeros((), device=device)
    losses = []
    while len(losses) < num_train_steps:
        x, y = get_batch(B=B)
        optimizer.zero_grad(set_to_none=False)
        loss = torch.dot(model(x) - y, model(x) - y) / B
        loss.backward()
        optimizer.step()
        mean = mean.lerp(loss.detach(), 0.1)
        losses.append(loss.item())
    return model, torch.tensor(losses)
