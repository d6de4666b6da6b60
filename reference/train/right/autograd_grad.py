"""Computes the gradients with torch.autograd.grad, so nothing has to be zeroed."""

import torch

from .cruncher import Cruncher
from .sgd import SGD


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers).to(device)
    params = list(model.parameters())
    optimizer = SGD(params, lr=lr)
    losses = torch.zeros(num_train_steps, dtype=torch.float64)
    for step in range(num_train_steps):
        x, y = get_batch(B=B)
        error = model(x) - y
        loss = error @ error / error.numel()
        for p, grad in zip(params, torch.autograd.grad(loss, params), strict=True):
            p.grad = grad
        losses[step] = loss.item()
        optimizer.step()
    return model, losses
