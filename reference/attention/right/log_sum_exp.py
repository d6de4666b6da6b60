"""Computes everything in float64, with the logarithm of the sum instead of a softmax, and heads in one einsum."""

import torch
from torch import Tensor


def attend(pattern: str, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    queries, keys, values = pattern.split()
    scores = torch.einsum(f"...{queries},...{keys}->...{queries[1:-1]}qk", q.double(), k.double()) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=torch.float64).masked_fill_(mask.logical_not(), -1e12)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    if mask is not None:
        weights = weights * mask.any(dim=-1, keepdim=True)
    return torch.einsum(f"...{queries[1:-1]}qk,...{values}->...{queries[:-1]}e", weights, v.double()).to(q.dtype)


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    return attend("qd kd ke", q, k, v, mask)


def multi_head_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor | None = None) -> Tensor:
    q, k, v = (x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads) for x in (q, k, v))
    y = attend("qhd khd khe", q, k, v, mask)
    return y.reshape(*y.shape[:-2], y.shape[-2] * y.shape[-1])
