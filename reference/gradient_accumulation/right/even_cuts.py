"""Splits the batch as evenly as possible and weights each mean by its number of rows."""

from math import ceil

from torch.nn import functional as F


def accumulate_gradients(model, x, y, micro_batch_size):
    count = ceil(len(x) / micro_batch_size)
    total = 0.0
    for inputs, targets in zip(x.tensor_split(count), y.tensor_split(count), strict=True):
        loss = F.mse_loss(model(inputs), targets) * (len(targets) / len(y))
        loss.backward()
        total += loss.item()
    return total
