"""Uses loops over rows, columns and positions in a patch."""

import torch
from einops import rearrange
from einops.layers.torch import Rearrange
from torch import nn


def upsample(x, n):
    y = x.new_empty(*x.shape[:-2], x.shape[-2] * n, x.shape[-1] * n)
    for i in range(n):
        for j in range(n):
            y[..., i::n, j::n] = x
    return y


def average_pool(x, n):
    total = torch.zeros_like(x[..., ::n, ::n], dtype=torch.float64)
    for i in range(n):
        for j in range(n):
            total += x[..., i::n, j::n]
    return (total / n**2).to(x.dtype)


def channels_first(x):
    return torch.stack(x.unbind(-1), dim=-3)


def patches(x, n):
    return torch.cat([x[..., i::n, j::n, :] for i in range(n) for j in range(n)], dim=-1).flatten(-3, -2)


def patch_embedding(n, channels, dim):
    model = nn.Sequential()
    model.append(Rearrange("b (rows i) (columns j) c -> b (rows columns) (i j c)", i=n, j=n))
    model.append(nn.Linear(n * n * channels, dim))
    return model


def outer(x, y):
    return (
        torch.stack([x * y[..., j, None] for j in range(y.shape[-1])], -1)
        if y.shape[-1]
        else x[..., None] * y[..., None, :]
    )


def squared_distances(x, y):
    y = y.movedim(-2, 0)
    columns = [(x - row[..., None, :]).double().pow(2).sum(-1) for row in y]
    return torch.stack(columns, -1).to(x.dtype) if columns else x.new_zeros(*x.shape[:-1], 0)


def traces(x):
    return sum((x[..., i, i] for i in range(x.shape[-1])), start=x.new_zeros(x.shape[:-2]))


def one_hot(labels, classes):
    return rearrange([labels == i for i in range(classes)], "classes ... -> ... classes")


def window_mask(n, window):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query in range(n):
        mask[query, max(0, query - window + 1) : query + 1] = True
    return mask


def rms_norm(x, eps):
    exact = x.double()
    return (exact / (exact.pow(2).sum(-1, keepdim=True) / x.shape[-1] + eps).sqrt()).to(x.dtype)
