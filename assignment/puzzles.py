"""Puzzles: solve each in one line with einops or broadcasting.

In einops' `(h n)`, `h` is the outer dimension. `x[..., None]` appends a dimension of size 1, which broadcasting
repeats.

Details:
- `...` stands for any leading dimensions, or none, the same in all inputs. These, `h`, `w`, `rows` and `columns` may
  have size 0.
- The result has the input's dtype unless annotated otherwise. Inputs are not modified.

Not specified (any choice is fine): views or copies; whether gradients flow; longer solutions.
"""

import torch
from einops import einsum, rearrange, reduce, repeat
from einops.layers.torch import Rearrange
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor, nn


def upsample(x: Shaped[Tensor, "... h w"], n: int) -> Shaped[Tensor, "... h*n w*n"]:
    """Repeat each pixel n times in both directions.

    Example:
        upsample(torch.tensor([[1, 2]]), n=2)     # [[1, 1, 2, 2], [1, 1, 2, 2]]
    """
    raise NotImplementedError


def average_pool(x: Float[Tensor, "... h*n w*n"], n: int) -> Float[Tensor, "... h w"]:
    """Return the mean of each n × n square.

    Example:
        average_pool(torch.tensor([[1., 2., 3., 4.], [5., 6., 7., 8.]]), n=2)     # [[3.5, 5.5]]
    """
    raise NotImplementedError


def channels_first(x: Shaped[Tensor, "... h w c"]) -> Shaped[Tensor, "... c h w"]:
    """Move the channels before height and width.

    Example:
        two_pixels = torch.tensor([[[1, 2, 3], [4, 5, 6]]])
        channels_first(two_pixels)     # [[[1, 4]], [[2, 5]], [[3, 6]]]: three channels
    """
    raise NotImplementedError


def patches(x: Shaped[Tensor, "... h*n w*n c"], n: int) -> Shaped[Tensor, "... h*w n*n*c"]:
    """Cut an image into n × n patches, row by row, and flatten each patch in the order rows, columns, channels.

    Example:
        image = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])[..., None]     # 2 × 4 pixels, one channel
        patches(image, n=2)     # [[1, 2, 5, 6], [3, 4, 7, 8]]
    """
    raise NotImplementedError


def patch_embedding(n: int, channels: int, dim: int) -> nn.Sequential:
    """Return an `nn.Sequential` of two layers: one that applies `patches`, and an `nn.Linear` with `dim` outputs.

    einops has a layer for each function: `Rearrange(pattern)`.

    Example:
        model = patch_embedding(n=16, channels=3, dim=768)
        model[1].weight.shape                  # (768, 768): 768 = 16 * 16 * 3 numbers per patch
        images = torch.zeros(2, 32, 48, 3)     # batch, height, width, channels
        model(images).shape                    # (2, 6, 768): batch, patches, dim
    """
    raise NotImplementedError


def outer(x: Float[Tensor, "... rows"], y: Float[Tensor, "... columns"]) -> Float[Tensor, "... rows columns"]:
    """Return all products `x[..., i] * y[..., j]`.

    Example:
        outer(torch.tensor([1., 2.]), torch.tensor([3., 4., 5.]))     # [[3., 4., 5.], [6., 8., 10.]]
    """
    raise NotImplementedError


def squared_distances(
    x: Float[Tensor, "... rows d"], y: Float[Tensor, "... columns d"]
) -> Float[Tensor, "... rows columns"]:
    """Return the squared Euclidean distance between each row of `x` and each row of `y`.

    Example:
        squared_distances(torch.tensor([[0., 0.], [3., 4.]]), torch.tensor([[0., 0.]]))     # [[0.], [25.]]
    """
    raise NotImplementedError


def traces(x: Float[Tensor, "... rows rows"]) -> Float[Tensor, "..."]:
    """Return the sum of each matrix's diagonal.

    `einsum` accepts a repeated name; `reduce` and `rearrange` do not.

    Example:
        traces(torch.tensor([[[1., 2.], [3., 4.]], [[5., 6.], [7., 8.]]]))     # [5., 13.]
    """
    raise NotImplementedError


def one_hot(labels: Int64[Tensor, "..."], classes: int) -> Bool[Tensor, "... classes"]:
    """Append a dimension of size `classes`, True at the label (0 to classes - 1) and False elsewhere.

    Example:
        one_hot(torch.tensor([2, 0]), classes=3)     # [[False, False, True], [True, False, False]]
    """
    raise NotImplementedError


def window_mask(n: int, window: int) -> Bool[Tensor, "n n"]:
    """Return the sliding-window attention mask: each position attends to itself and the `window - 1` before it.

    Example:
        window_mask(3, window=2)     # [[True, False, False], [True, True, False], [False, True, True]]
    """
    raise NotImplementedError


def rms_norm(x: Float[Tensor, "... d"], eps: float) -> Float[Tensor, "... d"]:
    """Divide each row by `sqrt(mean(x**2) + eps)`. `torch.rsqrt(y)` is `1 / sqrt(y)`.

    Example:
        rms_norm(torch.tensor([1., 7.]), eps=0)     # [0.2, 1.4]: the mean of 1 and 49 is 25
    """
    raise NotImplementedError
