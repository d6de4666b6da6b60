"""Reference solution for puzzles: one line each, with einops or broadcasting."""

import torch
from einops import rearrange, reduce, repeat
from einops.layers.torch import Rearrange
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor, nn


def upsample(x: Shaped[Tensor, "... h w"], n: int) -> Shaped[Tensor, "... h*n w*n"]:
    """Repeat each pixel n times in both directions."""
    return repeat(x, "... h w -> ... (h h2) (w w2)", h2=n, w2=n)


def average_pool(x: Float[Tensor, "... h*n w*n"], n: int) -> Float[Tensor, "... h w"]:
    """Return the mean of each n × n square."""
    return reduce(x, "... (h h2) (w w2) -> ... h w", "mean", h2=n, w2=n)


def channels_first(x: Shaped[Tensor, "... h w c"]) -> Shaped[Tensor, "... c h w"]:
    """Move the channels before the height and the width."""
    return rearrange(x, "... h w c -> ... c h w")


def patches(x: Shaped[Tensor, "... h*n w*n c"], n: int) -> Shaped[Tensor, "... h*w n*n*c"]:
    """Cut an image into n × n patches, and flatten each patch."""
    return rearrange(x, "... (h h2) (w w2) c -> ... (h w) (h2 w2 c)", h2=n, w2=n)


def patch_embedding(n: int, channels: int, dim: int) -> nn.Sequential:
    """Return a module that cuts images into patches and then applies a linear layer."""
    cut = Rearrange("b (h h2) (w w2) c -> b (h w) (h2 w2 c)", h2=n, w2=n)
    return nn.Sequential(cut, nn.Linear(n * n * channels, dim))


def outer(x: Float[Tensor, "... rows"], y: Float[Tensor, "... columns"]) -> Float[Tensor, "... rows columns"]:
    """Return the product of each element of `x` with each element of `y`."""
    return x[..., :, None] * y[..., None, :]


def squared_distances(
    x: Float[Tensor, "... rows d"], y: Float[Tensor, "... columns d"]
) -> Float[Tensor, "... rows columns"]:
    """Return the squared distance between each row of `x` and each row of `y`."""
    return (x[..., :, None, :] - y[..., None, :, :]).pow(2).sum(-1)


def traces(x: Float[Tensor, "... rows rows"]) -> Float[Tensor, "..."]:
    """Return the sum of the diagonal of each matrix."""
    return torch.einsum("...ii->...", x)


def one_hot(labels: Int64[Tensor, "..."], classes: int) -> Bool[Tensor, "... classes"]:
    """Compare each label with each class."""
    return labels[..., None] == torch.arange(classes)


def window_mask(n: int, window: int) -> Bool[Tensor, "n n"]:
    """Return a mask of the keys that are 0 to `window - 1` positions before the query."""
    return torch.ones(n, n, dtype=torch.bool).tril().triu(1 - window)


def rms_norm(x: Float[Tensor, "... d"], eps: float) -> Float[Tensor, "... d"]:
    """Divide each row by the root of its mean square."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
