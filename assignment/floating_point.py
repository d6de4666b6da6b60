"""Memory: what a floating-point dtype can hold, and what it costs.

The three functions are for these dtypes of torch:

                bits: sign  exponent  fraction    bytes    largest    smallest above 0
    float32            1       8         23         4      3.4e38     2**-149
    float16            1       5         10         2      65504      2**-24
    bfloat16           1       8          7         2      3.4e38     2**-133
    float8_e4m3fn      1       4          3         1      448        2**-9
    float8_e5m2        1       5          2         1      57344      2**-16

More bits of exponent reach further, to tiny and to huge numbers; with more of fraction, numbers lie closer together.
"""

from collections.abc import Sequence

import torch


def underflows(value: float, dtype: torch.dtype) -> bool:
    """Tell whether `value`, which is not 0, becomes 0 in `dtype`.

    A gradient that underflows is lost. A number is rounded to the nearest one that `dtype` has, half-way to an even
    one: so it becomes 0 when it is no further from 0 than half the smallest number above 0, which is much smaller
    than `torch.finfo(dtype).tiny`, the smallest with full precision.

    Example:
        underflows(1e-8, torch.float16)            # True: it is below 2**-24 / 2 = 2.98e-8
        underflows(1e-8, torch.bfloat16)           # False: it has the exponents of float32
        underflows(-9e-4, torch.float8_e4m3fn)     # True: it is nearer to 0 than 2**-9 / 2 = 9.77e-4
        underflows(-1e-3, torch.float8_e4m3fn)     # False: it becomes -2**-9
        underflows(0.0, torch.float16)             # False: 0 was 0 before

    `value` may be negative, infinite or NaN; the last two never become 0. The answer is a real `bool`.
    Left to you: values above that half by less than a ten-thousandth of it. torch itself rounds them twice, first to
    float32.
    """
    raise NotImplementedError


def largest(dtype: torch.dtype) -> float:
    """Return the largest finite number of `dtype`.

    Example:
        largest(torch.float16)            # 65504.0 = (2 - 2**-10) * 2**15: the last exponent is kept for infinity
        largest(torch.float8_e4m3fn)      # 448.0: without infinity ("fn": finite) the last exponent is in use, too
    """
    raise NotImplementedError


def storage_bytes(shape: Sequence[int], dtype: torch.dtype) -> int:
    """Return how many bytes the elements of a tensor of this shape and dtype take, without making the tensor.

    Example:
        storage_bytes((4, 8), torch.float32)               # 128: what torch.zeros(4, 8) takes; float32 is the default
        storage_bytes((4 * 12288, 12288), torch.float32)   # 2415919104 = 2304 * 1024**2: one matrix of GPT-3
        storage_bytes((), torch.bfloat16)                  # 2: a scalar is one element
    """
    raise NotImplementedError
