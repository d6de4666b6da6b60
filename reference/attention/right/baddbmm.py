"""Flattens the leading dimensions, adds a large negative bias with baddbmm, and stacks the heads as a batch."""

import torch
from torch import Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    dtype, leading = q.dtype, q.shape[:-2]
    wide = dtype if dtype == torch.float64 else torch.float32
    rows = leading.numel()
    q, k, v = (x.to(wide).reshape(rows, *x.shape[-2:]) for x in (q, k, v))
    bias = torch.zeros(1, q.shape[1], k.shape[1], dtype=wide)
    live = torch.ones(q.shape[1], 1, dtype=wide)
    if mask is not None:
        bias = bias.masked_fill(~mask, -1e30)
        live = mask.any(1, keepdim=True).to(wide)
    scores = torch.baddbmm(bias.expand(rows, -1, -1), q, k.transpose(1, 2), alpha=q.shape[-1] ** -0.5)
    weights = torch.nn.functional.softmax(scores, dim=2).to(dtype).to(wide)  # rounds the weights
    return (torch.bmm(weights, v) * live).reshape(*leading, q.shape[1], v.shape[-1]).to(dtype)


def multi_head_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor | None = None) -> Tensor:
    q, k, v = (torch.stack(x.chunk(heads, dim=-1)) for x in (q, k, v))
    return torch.cat(attention(q, k, v, mask).unbind(), dim=-1)
