"""Sums the results of `torch.autograd.grad` and adds them to `p.grad` at the end."""

import torch


def accumulate_gradients(model, x, y, micro_batch_size):
    parameters = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in parameters]
    squares = []
    for start in range(0, len(x), micro_batch_size):
        rows = slice(start, start + micro_batch_size)
        loss = torch.sum((model(x[rows]) - y[rows]) ** 2)
        for total, grad in zip(sums, torch.autograd.grad(loss, parameters), strict=True):
            total += grad
        squares.append(loss.detach())
    for p, total in zip(parameters, sums, strict=True):
        mean = total / len(x)
        p.grad = mean if p.grad is None else p.grad + mean
    return torch.stack(squares).sum() / len(x)
