"""Named dimensions: einops and jaxtyping.

einops gives names to dimensions. `einsum` sums over the dimensions that do not appear to the right of the arrow.
`reduce` combines the elements along those dimensions with the given operation. `...` stands for any leading
dimensions:

    einsum(x, y, "... seq1 hidden, ... seq2 hidden -> ... seq1 seq2")
    reduce(x, "... hidden -> ...", "max")
    rearrange(x, "... (heads hidden) -> ... heads hidden", heads=2)

jaxtyping annotations (Float[Tensor, "... seq hidden"]) are checked only under `@jaxtyped(typechecker=beartype)`.

Details, for all functions:
- Inputs can have any number of leading dimensions (including none). Leading dimensions, queries, keys and n can be 0;
  all other sizes are at least 1.
- The result has the input's dtype, and gradients flow to every input.

Not specified (any choice is fine): whether you use einops or plain torch; whether leading dimensions broadcast.
"""

import torch
from einops import einsum, rearrange, reduce
from jaxtyping import Bool, Float
from torch import Tensor


def attention_scores(
    q: Float[Tensor, "... queries hidden"], k: Float[Tensor, "... keys hidden"]
) -> Float[Tensor, "... queries keys"]:
    """Return the dot product of each query with each key, without scaling.

    Example:
        q = torch.tensor([[1., 0.], [0., 2.]])
        k = torch.tensor([[1., 1.], [2., 0.], [0., 3.]])
        attention_scores(q, k)               # [[1., 2., 0.], [2., 0., 6.]]
    """
    raise NotImplementedError


def mean_over_hidden(x: Float[Tensor, "... hidden"]) -> Float[Tensor, "..."]:
    """Return the mean over the last dimension, without keeping that dimension.

    Example:
        mean_over_hidden(torch.tensor([[1., 2., 3.], [4., 5., 9.]]))     # [2., 6.]
    """
    raise NotImplementedError


def per_head_linear(
    x: Float[Tensor, "... heads_times_d_in"], w: Float[Tensor, "d_in d_out"], heads: int
) -> Float[Tensor, "... heads_times_d_out"]:
    """Multiply each head of `x` by `w` and concatenate the results.

    The last dimension of `x` is "(heads d_in)". If its size is not `heads` times `d_in`, raise any exception.

    Not specified (any choice is fine): what happens if `d_in` is 1 but the heads have another size (einsum repeats
    a dimension of size 1).

    Example:
        w = torch.tensor([[1., 0., 1.], [0., 1., 1.]])
        per_head_linear(torch.tensor([1., 2., 3., 4.]), w, heads=2)
        # [1., 2., 3., 3., 4., 7.]: heads [1, 2] and [3, 4] become [1, 2, 3] and [3, 4, 7]
    """
    raise NotImplementedError


def causal_mask(n: int) -> Bool[Tensor, "n n"]:
    """Return the mask that lets each position attend to itself and to earlier positions.

    `mask[query, key]` is True where `key <= query`, as in torch's `scaled_dot_product_attention`.
    (The lecture's `torch.ones(n, n).triu()` is its transpose.)

    Example:
        causal_mask(3)     # [[True, False, False], [True, True, False], [True, True, True]]
    """
    raise NotImplementedError
