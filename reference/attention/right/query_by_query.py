"""Picks the allowed keys of each query, so that no score is masked. The mean is a sum of products."""

import torch
from torch import Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    outputs = []
    for i in range(q.shape[-2]):
        places = torch.arange(k.shape[-2]) if mask is None else mask[i].nonzero().flatten()
        keys, values = k[..., places, :].double(), v[..., places, :].double()
        scores = (q[..., i : i + 1, :].double() * keys).sum(-1) * q.shape[-1] ** -0.5
        outputs.append((scores.softmax(-1)[..., None] * values).sum(-2))
    return torch.stack(outputs, dim=-2).to(q.dtype)


def multi_head_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor | None = None) -> Tensor:
    d, e = q.shape[-1] // heads, v.shape[-1] // heads
    y = q.new_empty(*q.shape[:-1], heads * e)
    for h in range(heads):
        own, read = slice(h * d, (h + 1) * d), slice(h * e, (h + 1) * e)
        y[..., read] = attention(q[..., own], k[..., own], v[..., read], mask)
    return y
