"""Attention in float32 or better, and heads by rearrange."""

import torch
from einops import einsum, rearrange
from jaxtyping import Bool, Float
from torch import Tensor


def attention(
    q: Float[Tensor, "... queries d"],
    k: Float[Tensor, "... keys d"],
    v: Float[Tensor, "... keys d_v"],
    mask: Bool[Tensor, "queries keys"] | None = None,
) -> Float[Tensor, "... queries d_v"]:
    """Return the weighted means of the values."""
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = einsum(q.to(wide), k.to(wide), "... queries d, ... keys d -> ... queries keys") / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0)
    return einsum(weights, v.to(wide), "... queries keys, ... keys d -> ... queries d").to(q.dtype)


def multi_head_attention(
    q: Float[Tensor, "... queries heads*d"],
    k: Float[Tensor, "... keys heads*d"],
    v: Float[Tensor, "... keys heads*d_v"],
    heads: int,
    mask: Bool[Tensor, "queries keys"] | None = None,
) -> Float[Tensor, "... queries heads*d_v"]:
    """Split the last dimension into heads, attend, and join the heads."""
    q, k, v = (rearrange(x, "... tokens (heads d) -> ... heads tokens d", heads=heads) for x in (q, k, v))
    return rearrange(attention(q, k, v, mask), "... heads tokens d -> ... tokens (heads d)")
