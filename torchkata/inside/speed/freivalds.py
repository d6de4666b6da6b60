"""Estimates the error of a matrix product in O(n²) time, without computing the product (Freivalds' algorithm).

If C = A·B, then C·x = A·(B·x) for every x. For a vector x of independent random signs and any matrix E, the mean of
|E·x|² is ‖E‖² (Frobenius: the cross terms xᵢ·xⱼ average to 0), so the residual C·x − A·(B·x) is an estimate of ‖C −
A·B‖. The signs must be kept secret until C is fixed, because otherwise C could be forged.
"""

import math
import os
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Tensor

VECTORS = 16  # in one of 200,000 checks, the error of a product with one wrong row is underestimated by a factor of 3
CHUNK = 2**24  # number of elements that are converted to float64 at a time: 128 MiB
CHECK_BYTES = 4 * 8 * CHUNK
"""Memory for the temporary tensors of a check."""

ROUNDING = 0.2125
"""Relative error of rounding to nearest, in units of the dtype's eps: the root mean square is 0.21 for normally
distributed values, as for a uniform error of at most half a unit in the last place, averaged over mantissas."""
MARGIN = 1.8  # allowed multiple of the error of a correct product; in bfloat16 0.2125 · 1.8 · 2⁻⁷ = 3.0e-3
OWN_MARGIN = 1.38
"""Allowed multiple of the baseline's error."""


def relative_error(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    *,
    vectors: int = VECTORS,
    entropy: Callable[[int], bytes] = os.urandom,
) -> float:
    """Estimate ‖C − A·B‖ / ‖C‖ (Frobenius norms) in float64.

    The error is relative to the norm of C, which can be computed exactly, whereas the norm of A·B could only be
    estimated. For an error e relative to ‖A·B‖, the result is between e / (1 + e) and e / (1 − e), which is nearly e
    for small errors. No float64 copy is larger than CHUNK elements (or one row).

    Args:
        a: Matrix of shape (m, k), of any real dtype.
        b: Matrix of shape (k, n) on the same device.
        c: The claimed product, of shape (m, n).
        vectors: Number of random vectors.
        entropy: Returns the given number of random bytes.

    Returns infinity if C contains NaN or infinity, or if C is 0 but should not be. Returns 0 if C is empty. Raises
    ValueError if the shapes do not match.
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
    """Compute |C·x − A·(B·x)|² for each column of x. Its mean over all sign vectors x is ‖C − A·B‖²."""
    return (product(c, x) - product(a, product(b, x))).square().sum(0)


def product(matrix: Tensor, x: Float64[Tensor, "n vectors"]) -> Float64[Tensor, "m vectors"]:
    """Multiply a matrix by a few vectors in float64."""
    return torch.cat([rows.double() @ x for rows in chunks(matrix)])


def chunks(matrix: Tensor) -> tuple[Tensor, ...]:
    """Split a matrix into blocks of consecutive rows with at most CHUNK elements (or one row) each."""
    return torch.split(matrix, max(1, CHUNK // max(1, matrix.shape[1])))


def random_signs(
    length: int, vectors: int, entropy: Callable[[int], bytes] = os.urandom
) -> Float64[Tensor, "length vectors"]:
    """Draw independent random signs, +1 or −1.

    The signs are not drawn from torch's generators, because these use only 32 bits of the seed, so that an attacker
    could try all seeds.
    """
    drawn = torch.frombuffer(bytearray(entropy(length * vectors) or b"\0"), dtype=torch.uint8)
    return 1.0 - 2.0 * (drawn[: length * vectors].reshape(length, vectors) & 1).double()


def tolerance(dtype: torch.dtype, terms: int, own: float) -> float:
    """Return the largest accepted relative error of a matrix product in `dtype` with `terms` terms per sum.

    This is `floor`, or OWN_MARGIN times `own` (the error of the baseline) on devices with less accurate matmuls. If
    `own` is NaN or infinite, it is ignored.
    """
    return max(floor(dtype, terms), OWN_MARGIN * own if math.isfinite(own) else 0.0)


def floor(dtype: torch.dtype, terms: int) -> float:
    """Return the relative error that a correct product may have if it is summed in float32 or better and then rounded.

    The two rounding errors are independent, so their squares add up. Rounding the output contributes ROUNDING ·
    eps(dtype). For a sum of terms with random signs, partial sum j has size √j and error ROUNDING · eps(sum) · √j. The
    squares add up to terms² / 2 over all j. Relative to a result of size √terms, this is ROUNDING · eps(sum) · √(terms
    / 2) for sequential summation; blocked summation has smaller errors. The result is multiplied by MARGIN. Raises
    ValueError for integers, which are not rounded, and for float64, which this check itself uses.
    """
    if not dtype.is_floating_point or dtype == torch.float64:
        raise ValueError(f"the check supports only floating dtypes that are less precise than float64, not {dtype}")
    output, total = torch.finfo(dtype).eps, torch.finfo(torch.float32).eps
    return MARGIN * ROUNDING * math.hypot(output, total * math.sqrt(terms / 2))
