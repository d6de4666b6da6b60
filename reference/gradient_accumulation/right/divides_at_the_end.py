"""Accumulates the gradients of sums of squares, divides them at the end, and then adds the previous gradients."""

import torch


def accumulate_gradients(model, x, y, micro_batch_size):
    before = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    total = 0.0
    for part in torch.arange(len(x)).split(min(micro_batch_size, len(x))):
        loss = (model(x[part]) - y[part]).pow(2).sum()
        loss.backward()
        total += loss.item()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.grad is not None:
                p.grad /= len(x)
                if before[name] is not None:
                    p.grad += before[name]
    return torch.tensor(total / len(x))
