"""Range and size of floating-point dtypes.

                bits: sign  exponent  fraction    bytes    largest    smallest positive
    float32            1       8         23         4      3.4e38     2**-149
    float16            1       5         10         2      65504      2**-24
    bfloat16           1       8          7         2      3.4e38     2**-133
    float8_e4m3fn      1       4          3         1      448        2**-9
    float8_e5m2        1       5          2         1      57344      2**-16

The functions below must support these dtypes.
"""

from collections.abc import Sequence

import torch


def underflows(value: float, dtype: torch.dtype) -> bool:
    """Return True (a `bool`) if `value`, a Python float, is not 0 but becomes 0 when it is rounded to `dtype`.

    Values are rounded to nearest, ties to even, so `value` becomes 0 if its absolute value is at most half the smallest
    positive number. (`torch.finfo(dtype).tiny` is the smallest normal number, which is larger.)

    Example:
        underflows(1e-8, torch.float16)            # True: less than 2**-24 / 2 = 2.98e-8
        underflows(1e-8, torch.bfloat16)           # False: this dtype has the exponents of float32
        underflows(1e-50, torch.float32)           # True: as a Python float, 1e-50 is not 0
        underflows(-9e-4, torch.float8_e4m3fn)     # True: closer to 0 than 2**-9 / 2 = 9.77e-4
        underflows(-1e-3, torch.float8_e4m3fn)     # False: it is rounded to -2**-9
        underflows(0.0, torch.float16)             # False: 0 is already 0

    Details: `value` may be negative, infinite or NaN. Infinity and NaN never become 0.

    Not specified (any choice is fine): the result if the absolute value is larger than half the smallest positive
    number, but by at most 0.01%.
    """
    raise NotImplementedError


def largest(dtype: torch.dtype) -> float:
    """Return the largest finite number of `dtype`, exactly.

    Example:
        largest(torch.float16)            # 65504.0 = (2 - 2**-10) * 2**15: the largest exponent encodes infinity
        largest(torch.float8_e4m3fn)      # 448.0: "fn": it has NaN, but no infinity
    """
    raise NotImplementedError


def storage_bytes(shape: Sequence[int], dtype: torch.dtype) -> int:
    """Return the size in bytes of a tensor of this shape and dtype, exactly and without allocating it.

    Example:
        storage_bytes((4, 8), torch.float32)               # 128: torch.zeros(4, 8), float32 by default
        storage_bytes((4 * 12288, 12288), torch.float32)   # 2415919104 = 2304 * 1024**2: one matrix of GPT-3
        storage_bytes((), torch.bfloat16)                  # 2: a scalar is one element
    """
    raise NotImplementedError
