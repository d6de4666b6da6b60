"""Named dimensions with einops."""

import torch
from einops import einsum, rearrange, reduce
from jaxtyping import Bool, Float
from torch import Tensor


def attention_scores(
    q: Float[Tensor, "... queries hidden"], k: Float[Tensor, "... keys hidden"]
) -> Float[Tensor, "... queries keys"]:
    """Return the dot product of each query with each key."""
    return einsum(q, k, "... queries hidden, ... keys hidden -> ... queries keys")


def mean_over_hidden(x: Float[Tensor, "... hidden"]) -> Float[Tensor, "..."]:
    """Return the mean over the last dimension."""
    return reduce(x, "... hidden -> ...", "mean")


def per_head_linear(
    x: Float[Tensor, "... heads_times_d_in"], w: Float[Tensor, "d_in d_out"], heads: int
) -> Float[Tensor, "... heads_times_d_out"]:
    """Split the last dimension into heads, multiply each head by `w`, and concatenate the results."""
    x = rearrange(x, "... (heads d_in) -> ... heads d_in", heads=heads)
    y = einsum(x, w, "... d_in, d_in d_out -> ... d_out")
    return rearrange(y, "... heads d_out -> ... (heads d_out)")


def causal_mask(n: int) -> Bool[Tensor, "n n"]:
    """Return a mask that is True where the key is not after the query."""
    return torch.ones(n, n, dtype=torch.bool).tril()
