"""Attention: each query reads a mean of values, weighted by how well their keys match.

Details:
- q, k and v share the leading dimensions `...`: any number, even none, of any size, even 0; at least one key.
- The result has the inputs' dtype. Compute scores and softmax in float32 (float64 for float64 inputs): convert q and
  k before multiplying them.
- Scores of ±1e4, masked or not, give finite, correct results.
- Gradients flow to q, k and v, and are never NaN. The inputs are not modified.

Not specified (any choice is fine): whether the product with v has the inputs' precision or more; the precision
under `torch.autocast`; whether leading dimensions broadcast; masks with leading dimensions.
"""

import math

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
    """Return `softmax(q kᵀ / √d) v`.

    The score of a query and a key is their dot product / `√d`. The softmax is over the keys, so the weights
    of a query, `exp(score) / sum(exp(scores))`, sum to 1.

    `mask[query, key]` is True where the query may attend to the key. All other keys have weight 0. If a query
    may attend to no key, its result is 0.

    Example, with the scores 0 and log(3), so the weights are 1/4 and 3/4:
        q = torch.tensor([[2., 0., 0., 0.]])
        k = torch.tensor([[0., 0., 0., 0.], [math.log(3), 0., 0., 0.]])
        v = torch.tensor([[4.], [8.]])
        attention(q, k, v)                                    # [[7.]]
        attention(q, k, v, torch.tensor([[True, False]]))     # [[4.]]
        attention(q, k, v, torch.tensor([[False, False]]))    # [[0.]]
    """
    raise NotImplementedError


def multi_head_attention(
    q: Float[Tensor, "... queries heads*d"],
    k: Float[Tensor, "... keys heads*d"],
    v: Float[Tensor, "... keys heads*d_v"],
    heads: int,
    mask: Bool[Tensor, "queries keys"] | None = None,
) -> Float[Tensor, "... queries heads*d_v"]:
    """Split the last dimension into heads, apply `attention` to each, and concatenate the results.

    The last dimension is "(heads d)": its first d elements are the first head. All heads share the mask.

    Example, two heads of width 1, with scores 0 and 0, and 0 and 100:
        q = torch.tensor([[0., 1.]])
        k = torch.tensor([[0., 0.], [0., 100.]])
        v = torch.tensor([[1., 10.], [3., 30.]])
        multi_head_attention(q, k, v, heads=2)     # [[2., 30.]]
    """
    raise NotImplementedError
