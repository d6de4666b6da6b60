"""Calls torch's attention, and splits heads with unflatten."""

import torch
import torch.nn.functional as F
from torch import Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def multi_head_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor | None = None) -> Tensor:
    def split(x: Tensor) -> Tensor:
        return torch.unflatten(x, -1, (heads, x.shape[-1] // heads)).transpose(-3, -2)

    return attention(split(q), split(k), split(v), mask).transpose(-3, -2).flatten(-2)
