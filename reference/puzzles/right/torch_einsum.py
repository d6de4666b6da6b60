"""Uses einsum for all products, and the expanded form of the squared distance."""

import torch
from einops import rearrange, reduce, repeat
from einops.layers.torch import Rearrange
from torch import nn


def upsample(x, n):
    return repeat(x, "... h w -> ... (h a) (w b)", a=n, b=n).contiguous()


def average_pool(x, n):
    rows = reduce(x, "... (h a) w -> ... h w", "mean", a=n)
    return reduce(rows, "... h (w b) -> ... h w", "mean", b=n)


def channels_first(x):
    return torch.einsum("...hwc->...chw", x)


def patches(x, n):
    squares = rearrange(x, "... (h a) (w b) c -> ... h w a b c", a=n, b=n)
    return rearrange(squares, "... h w a b c -> ... (h w) (a b c)")


def patch_embedding(n, channels, dim):
    return nn.Sequential(
        *[Rearrange("b (h a) (w b2) c -> b (h w) (a b2 c)", a=n, b2=n), nn.Linear(channels * n * n, dim)]
    )


def outer(x, y):
    return torch.einsum("...i,...j->...ij", x, y)


def squared_distances(x, y):
    squares = x.pow(2).sum(-1)[..., None] + y.pow(2).sum(-1)[..., None, :]
    return squares - 2 * torch.einsum("...id,...jd->...ij", x, y)


def traces(x):
    return (x * torch.eye(x.shape[-1], dtype=x.dtype)).sum((-2, -1))


def one_hot(labels, classes):
    return torch.eye(classes, dtype=torch.bool)[labels]


def window_mask(n, window):
    i, j = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    return torch.logical_and(j <= i, i - j < window)


def rms_norm(x, eps):
    return x / torch.sqrt(torch.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1] + eps)
