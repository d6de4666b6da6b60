"""Computes the gradients manually, without autograd, and returns float64 losses."""

import torch

from .cruncher import Cruncher
from .sgd import SGD


@torch.no_grad()
def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers).to(device)
    optimizer = SGD(model.parameters(), lr=lr)
    losses = torch.full((num_train_steps,), torch.nan, dtype=torch.float64)
    layers = [*model.layers, model.final]
    for step in range(num_train_steps):
        x, y = get_batch(B=B)
        inputs = [x]
        for layer in layers:
            inputs.append(inputs[-1] @ layer.weight)
        error = inputs.pop().squeeze(1) - y
        losses[step] = error.square().mean()
        upstream = (2 / B) * error[:, None]
        for layer in reversed(layers):
            layer.weight.grad = inputs.pop().T @ upstream
            upstream = upstream @ layer.weight.T
        optimizer.step()
    return model, losses
