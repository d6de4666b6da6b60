"""Replaces the student's `attention` in katas that build on it, if the student's version fails its tests."""

import torch
from torch import Tensor, nn


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return torch's attention."""
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def multi_head_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor | None = None) -> Tensor:
    """Split the last dimension into heads, attend, and join the heads."""
    q, k, v = (torch.unflatten(x, -1, (heads, x.shape[-1] // heads)).transpose(-2, -3) for x in (q, k, v))
    return attention(q, k, v, mask).transpose(-2, -3).flatten(-2)
