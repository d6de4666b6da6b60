"""How far a claimed product is from the true one, found in O(n²) without computing the true one.

Freivalds' check: if C = A·B, then C·x = A·(B·x) for every x. For a vector x of independent random signs and any
matrix E, the mean of |E·x|² is ‖E‖² (Frobenius: the cross terms xᵢ·xⱼ average to 0), so the residual C·x − A·(B·x)
measures ‖C − A·B‖. The signs must be unknown to whoever made C until C is fixed.
"""

import math
import os
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Tensor

VECTORS = 16  # wrong in one row alone, a product seems 3 times better than it is once in 200 000 checks
CHUNK = 2**24  # elements of a matrix that are float64 at a time: 128 MiB

# What rounding to the nearest does to a sum, relative to its size, in units of the dtype's eps: the root mean square
# is 0.21 for normally distributed values (a uniform error of at most half a last place, averaged over the mantissas).
ROUNDING = 0.2125
MARGIN = 1.8  # over what a right product shows; in bfloat16 0.2125 · 1.8 · 2⁻⁷ = 3.0e-3
OWN_MARGIN = 1.5  # over what the baseline shows


def relative_error(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    *,
    vectors: int = VECTORS,
    entropy: Callable[[int], bytes] = os.urandom,
) -> float:
    """An estimate of ‖C − A·B‖ / ‖C‖ (Frobenius norms) in float64, for A: m k, B: k n, C: m n on one device.

    The norm of C is exact, where that of A·B could only be estimated; for an error e relative to ‖A·B‖ this is
    between e / (1 + e) and e / (1 − e), so the same where it matters. Any real dtypes; `entropy` gives as many random
    bytes as it is asked for. No float64 copy is ever larger than CHUNK elements, or one row. Infinite where C holds a
    NaN or an infinity, or is 0 and should not be; 0 for a C without elements. Raises ValueError for shapes that don't
    fit.
    """
    if not (a.ndim == b.ndim == c.ndim == 2 and a.shape[1] == b.shape[0] and c.shape == (a.shape[0], b.shape[1])):
        raise ValueError(f"shapes {list(a.shape)} and {list(b.shape)} have no product of shape {list(c.shape)}")
    x = random_signs(b.shape[1], vectors, entropy).to(c.device)
    error = float(squared_residuals(a, b, c, x).mean())
    size = sum(float(rows.double().square().sum()) for rows in chunks(c))
    if not math.isfinite(error) or not math.isfinite(size):
        return math.inf
    if size == 0:
        return 0.0 if error == 0 else math.inf
    return math.sqrt(error / size)


def squared_residuals(a: Tensor, b: Tensor, c: Tensor, x: Float64[Tensor, "n vectors"]) -> Float64[Tensor, " vectors"]:
    """|C·x − A·(B·x)|² for each column of x; the mean over all sign vectors is ‖C − A·B‖²."""
    true = product(a, product(b, x))
    return (product(c, x) - true).square().sum(0)


def product(matrix: Tensor, x: Float64[Tensor, "n vectors"]) -> Float64[Tensor, "m vectors"]:
    """The matrix times a few vectors, in float64."""
    return torch.cat([rows.double() @ x for rows in chunks(matrix)])


def chunks(matrix: Tensor) -> tuple[Tensor, ...]:
    """Consecutive rows of a matrix, at most CHUNK elements (or one row) at a time."""
    return torch.split(matrix, max(1, CHUNK // max(1, matrix.shape[1])))


def random_signs(
    length: int, vectors: int, entropy: Callable[[int], bytes] = os.urandom
) -> Float64[Tensor, "length vectors"]:
    """Independent fair signs, +1 or −1; torch's own generators keep 32 bits of a seed, which could be searched."""
    drawn = torch.frombuffer(bytearray(entropy(length * vectors) or b"\0"), dtype=torch.uint8)
    return 1.0 - 2.0 * (drawn[: length * vectors].reshape(length, vectors) & 1).double()


def tolerance(dtype: torch.dtype, terms: int, own: float) -> float:
    """The largest relative error of a product of `dtype`, each element a sum of `terms`, that is taken for right.

    That is what the dtype allows (`floor`), or half as much again as the baseline's own error beside it, for
    devices whose plain product is rougher. An own error that is no number counts for nothing.
    """
    return max(floor(dtype, terms), OWN_MARGIN * own if math.isfinite(own) else 0.0)


def floor(dtype: torch.dtype, terms: int) -> float:
    """The relative error that a right product may have: summed in float32 or better, then rounded to `dtype`.

    Two roundings that know nothing of each other, so their squares add. The output's is ROUNDING · eps(dtype). The
    sum's: with terms of random signs, partial sum j is √j terms large and off by ROUNDING · eps(sum) · √j; over all j
    the squares come to terms² / 2, against a result of √terms: ROUNDING · eps(sum) · √(terms / 2), one term after the
    other, which every blocked order undercuts. Both times MARGIN.
    Raises ValueError for integers, which round nothing, and for float64, which a check in float64 cannot judge.
    """
    if not dtype.is_floating_point or dtype == torch.float64:
        raise ValueError(f"the check is for floating dtypes coarser than float64, not for {dtype}")
    output, total = torch.finfo(dtype).eps, torch.finfo(torch.float32).eps
    return MARGIN * ROUNDING * math.hypot(output, total * math.sqrt(terms / 2))
