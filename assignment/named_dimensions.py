"""Compute: dimensions with names instead of numbers."""

import torch
from einops import einsum, rearrange, reduce
from jaxtyping import Bool, Float
from torch import Tensor

# In `x @ y.transpose(-2, -1)` one has to know what -2 and -1 are. einops names them: what stands on the left of the
# arrow and not on the right is summed over, and `...` is any number of further dimensions in front, none included:
#
#     einsum(x, y, "... seq1 hidden, ... seq2 hidden -> ... seq1 seq2")
#     reduce(x, "... hidden -> ...", "max")
#     rearrange(x, "... (heads hidden) -> ... heads hidden", heads=2)
#
# jaxtyping writes the same names into the signature: Float[Tensor, "... seq hidden"] is a float tensor of that shape.
# By themselves such annotations check nothing. With a type checker, one line above a function has its arguments and its
# result checked at every call (`from beartype import beartype`, `from jaxtyping import jaxtyped`; beartype is a package
# of its own, which these katas do not need):
#
#     @jaxtyped(typechecker=beartype)
#
# In all four functions: any leading dimensions of any size, 0 included; the dtype of the result is that of the input,
# and gradients flow through. Left to you: einops or plain torch, and leading dimensions that would have to be
# broadcast.


def attention_scores(
    q: Float[Tensor, "... queries hidden"], k: Float[Tensor, "... keys hidden"]
) -> Float[Tensor, "... queries keys"]:
    """How well each query fits each key: the sum over `hidden` of `q · k`, not scaled.

    Example:
        q = torch.tensor([[1., 0.], [0., 2.]])
        k = torch.tensor([[1., 1.], [2., 0.], [0., 3.]])
        attention_scores(q, k)               # [[1., 2., 0.], [2., 0., 6.]]
    """
    raise NotImplementedError


def mean_over_hidden(x: Float[Tensor, "... hidden"]) -> Float[Tensor, "..."]:
    """The mean of the last dimension, which disappears.

    Example:
        mean_over_hidden(torch.tensor([[1., 2., 3.], [4., 5., 9.]]))     # [2., 6.]
    """
    raise NotImplementedError


def per_head_linear(
    x: Float[Tensor, "... heads_times_d_in"], w: Float[Tensor, "d_in d_out"], heads: int
) -> Float[Tensor, "... heads_times_d_out"]:
    """Multiply each head of `x` by `w`, and put the heads side by side again.

    The last dimension of `x` holds `heads` vectors of size `d_in`, one after the other: "(heads d_in)". Each of them is
    multiplied by the same `w`. If the last dimension can't be cut into so many vectors of size `d_in`, raise an
    exception (which one is open).

    Example:
        w = torch.tensor([[1., 0., 1.], [0., 1., 1.]])
        per_head_linear(torch.tensor([1., 2., 3., 4.]), w, heads=2)
        # [1., 2., 3., 3., 4., 7.]: the heads [1, 2] and [3, 4] become [1, 2, 3] and [3, 4, 7]
    """
    raise NotImplementedError


def causal_mask(n: int) -> Bool[Tensor, "n n"]:
    """What each of `n` positions may look at: itself and what came before it.

    `mask[query, key]` is True where `key <= query`; as in torch's `scaled_dot_product_attention`, True means that the
    key takes part. (The lecture's `torch.ones(n, n).triu()` is the transpose: there rows are keys and columns queries.)

    Example:
        causal_mask(3)     # [[True, False, False], [True, True, False], [True, True, True]]
    """
    raise NotImplementedError
