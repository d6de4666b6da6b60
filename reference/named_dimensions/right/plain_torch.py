"""Numbers its dimensions from the back, without einops."""

import torch
from torch import Tensor


def attention_scores(q: Tensor, k: Tensor) -> Tensor:
    """A product with the keys as columns."""
    return torch.matmul(q, k.mT)


def mean_over_hidden(x: Tensor) -> Tensor:
    """Of the last dimension."""
    return x.mean(dim=-1)


def per_head_linear(x: Tensor, w: Tensor, heads: int) -> Tensor:
    """Unflatten, multiply, flatten."""
    return (x.unflatten(-1, (heads, w.shape[0])) @ w).flatten(-2)


def causal_mask(n: int) -> Tensor:
    """Compare positions."""
    positions = torch.arange(n)
    return positions[:, None] >= positions[None, :]
