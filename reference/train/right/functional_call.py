"""Differentiates a function of the weights with torch.func and stacks the losses."""

import torch
from torch.func import functional_call, grad_and_value

from .cruncher import Cruncher
from .sgd import SGD


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers).to(device)
    optimizer = SGD(params=model.parameters(), lr=lr)

    def mean_squared_error(weights, x, y):
        return (functional_call(model, weights, (x,)) - y).pow(2).mean(dim=0)

    losses = []
    for _ in range(num_train_steps):
        weights = {name: p.detach() for name, p in model.named_parameters()}
        grads, loss = grad_and_value(mean_squared_error)(weights, *get_batch(B=B))
        losses.append(loss)
        for name, p in model.named_parameters():
            p.grad = grads[name]
        optimizer.step()
        optimizer.zero_grad()
    return model, torch.stack(losses) if losses else torch.empty(0)
