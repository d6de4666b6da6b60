"""Splits the reversed batch with a DataLoader, and passes the weight of each micro-batch to backward()."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def accumulate_gradients(model, x, y, micro_batch_size):
    order = torch.arange(len(x) - 1, -1, -1)
    losses = []
    for inputs, targets in DataLoader(TensorDataset(x[order], y[order]), batch_size=micro_batch_size):
        loss = (targets - model(inputs)).square().mean()
        share = torch.full_like(loss, len(targets) / len(x))
        loss.backward(gradient=share)
        losses.append(float(loss * share))
    return sum(losses)
