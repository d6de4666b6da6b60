"""Block scaling: numbers of 8 or 4 bits, in blocks of neighbors that share a scale.

    bits    format        dtype                  values                               largest
      8     fp8 (E4M3)    torch.float8_e4m3fn    all finite values of this dtype      448
      4     fp4 (E2M1)    torch.float32          0, ±0.5, ±1, ±1.5, ±2, ±3, ±4, ±6    6

fp4 is stored as float32.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def quantize(x: Float[Tensor, "... n"], block: int, bits: int) -> tuple[Tensor, Float[Tensor, "... blocks"]]:
    """Return the values of `x` in a format of `bits` bits, in the shape of `x`, and the scale of each block.

    A block is `block` neighbors in the last dimension, and n is a positive multiple of `block`:
    - scale = largest absolute value in the block / largest value of the format (float32);
    - value = the value of the format that is nearest to x / scale (in the dtype above).

    Example:
        values, scales = quantize(torch.tensor([1.2, -12.0, 0.5, 1.5]), block=2, bits=4)
        scales     # [2.0, 0.25]: 12 / 6 and 1.5 / 6
        values     # [0.5, -6.0, 2.0, 6.0]: 1.2 / 2 = 0.6 becomes 0.5

    Details:
    - A block of zeros has the values 0 and any finite scale.
    - `x` is float32 with any number of dimensions. The largest absolute value of a block is between 1e-25 and
      1e25. `x` is not modified.

    Not specified (any choice is fine): which value is returned if two are, up to rounding, equally near; the
    sign of 0.
    """
    raise NotImplementedError


def dequantize(values: Float[Tensor, "... n"], scales: Float[Tensor, "... blocks"]) -> Float[Tensor, "... n"]:
    """Return each value times the scale of its block, in float32. The length of a block is n / blocks.

    Example:
        dequantize(torch.tensor([0.5, -6.0, 2.0, 6.0]), torch.tensor([2.0, 0.25]))     # [1.0, -12.0, 0.5, 1.5]

    Details: `values` has the dtype that `quantize` returns.
    """
    raise NotImplementedError


def scaled_matmul(x: Float[Tensor, "... k"], w: Float[Tensor, "k n"], block: int, bits: int) -> Float[Tensor, "... n"]:
    """Return the float32 product of the quantized `x` and `w`.

    The blocks of both lie along k, the dimension that is summed: a block of `x` is in one row, a block of `w` in one
    column.

    Example:
        x, w = torch.tensor([[1.2, 6.0]]), torch.tensor([[1.0, 0.5], [12.0, 3.0]])
        scaled_matmul(x, w, block=2, bits=4)     # [[73.0, 18.5]]: x @ w is [[73.2, 18.6]], but 1.2 becomes 1.0
    """
    raise NotImplementedError


def quantized_bytes(numel: int, block: int, bits: int, scale_bytes: int = 1) -> int:
    """Return the bytes of `numel` quantized elements with their scales, exactly.

    Example:
        quantized_bytes(32, block=16, bits=4)     # 18 = 16 + 2: 4.5 bits per element
        quantized_bytes(32, block=32, bits=8, scale_bytes=4)     # 36

    Details: `numel` is a multiple of `block`, and its elements fill whole bytes.
    """
    raise NotImplementedError
