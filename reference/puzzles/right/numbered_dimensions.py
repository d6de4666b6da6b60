"""Uses reshapes with explicit sizes instead of einops, means of means, and the expanded form of squared distances."""

import torch
from torch import nn


def split(x, n):
    return x.unflatten(-2, (x.shape[-2] // n, n)).unflatten(-1, (x.shape[-1] // n, n))  # h, h2, w, w2


def upsample(x, n):
    return x.repeat_interleave(n, -2).repeat_interleave(n, dim=-1)


def average_pool(x, n):
    return split(x, n).mean(-1).mean(-2)


def channels_first(x):
    return x.movedim(-1, -3)


def patches(x, n):
    *leading, h, w, c = x.shape
    x = x.reshape(*leading, h // n, n, w // n, n, c).transpose(-3, -4)
    return x.reshape(*leading, (h // n) * (w // n), n * n * c)


class Patches(nn.Module):
    """A layer that cuts images into patches."""

    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return patches(x, self.n)


def patch_embedding(n, channels, dim):
    return nn.Sequential(Patches(n), nn.Linear(channels * n**2, dim))


def outer(x, y):
    return x.unsqueeze(-1) @ y.unsqueeze(-2)


def squared_distances(x, y):
    squares = x.square().sum(-1).unsqueeze(-1) + y.square().sum(-1).unsqueeze(-2)
    return squares - 2 * x @ y.mT


def traces(x):
    return x.diagonal(dim1=-2, dim2=-1).sum(-1)


def one_hot(labels, classes):
    return nn.functional.one_hot(labels, classes).bool()


def window_mask(n, window):
    i = torch.arange(n)
    return (i[None, :] <= i[:, None]) & (i[None, :] > i[:, None] - window)


def rms_norm(x, eps):
    return nn.functional.rms_norm(x, x.shape[-1:], eps=eps)
