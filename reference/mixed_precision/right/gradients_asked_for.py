"""Uses torch.autograd.grad, and removes the gradients after the step."""

import torch


def train_step(model, optimizer, x, y):
    parameters = list(model.parameters())
    with torch.amp.autocast(device_type="cpu", dtype=torch.bfloat16, cache_enabled=False):
        error = model(x).to(y.dtype) - y
    loss = error.dot(error) / len(y)
    for p, grad in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        p.grad = grad
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach().clone()
