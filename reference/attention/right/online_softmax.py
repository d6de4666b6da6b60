"""Reads the keys in blocks of two, and corrects sums when a larger score appears, as FlashAttention does."""

import torch
from torch import Tensor

LOWEST = -1e30


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    largest = torch.full(q.shape[:-1], LOWEST, dtype=wide)[..., None]
    sums = torch.zeros_like(largest)
    total = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=wide)
    for start in range(0, k.shape[-2], 2):
        keys, values = (x[..., start : start + 2, :].to(wide) for x in (k, v))
        scores = (q.to(wide) / q.shape[-1] ** 0.5) @ keys.mT
        allowed = torch.ones_like(scores) if mask is None else mask[:, start : start + 2].to(wide)
        scores = torch.where(allowed > 0, scores, LOWEST)
        new = torch.maximum(largest, scores.detach().amax(-1, keepdim=True))
        shares, shrink = (scores - new).exp() * allowed, (largest - new).exp()
        sums = sums * shrink + shares.sum(-1, keepdim=True)
        total = total * shrink + shares @ values
        largest = new
    return (total / torch.where(sums > 0, sums, 1)).to(q.dtype)


def multi_head_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor | None = None) -> Tensor:
    parts = zip(q.chunk(heads, -1), k.chunk(heads, -1), v.chunk(heads, -1), strict=True)
    return torch.cat([attention(*part, mask) for part in parts], dim=-1)
