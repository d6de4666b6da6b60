"""Oracle for block_scaling, with values derived from the bits of each format."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.floating_point.oracle import Format, decode

MAGNITUDES = {  # bits → the values from 0 up. The last pattern of float8_e4m3fn is NaN; fp4 (E2M1) has no NaN.
    4: np.array([decode(pattern, Format(2, 1)) for pattern in range(2**3)]),
    8: np.array([decode(pattern, Format(4, 3)) for pattern in range(2**7 - 1)]),
}


def largest(bits: int) -> float:
    """Return the largest value of the format."""
    return float(MAGNITUDES[bits][-1])


def split(x: Float[Array, "... n"], block: int) -> Float[Array, "... blocks block"]:
    """Return the blocks of neighbors."""
    return x.reshape(*x.shape[:-1], -1, block)


def sizes(blocks: Float[Array, "... blocks block"]) -> Float[Array, "... blocks"]:
    """Return the largest absolute value of each block."""
    return np.asarray(np.max(abs(blocks), axis=-1))


def scale(size: Float[Array, "... blocks"], bits: int) -> Float[Array, "... blocks"]:
    """Return the scale of blocks whose largest absolute values are given."""
    return size / largest(bits)


def nearest(ratios: Float[Array, "*shape"], bits: int) -> Float[Array, "*shape"]:
    """Return the nearest values of the format, the smaller magnitude of two that are equally near."""
    known = MAGNITUDES[bits]
    return np.asarray(np.copysign(known[np.searchsorted((known[1:] + known[:-1]) / 2, abs(ratios))], ratios) + 0.0)


def spread(scales: Float[Array, "... blocks"], n: int) -> Float[Array, "... n"]:
    """Return the scale by which each element is divided: that of its block, but 1 in a block of zeros."""
    return np.repeat(np.where(scales == 0, 1.0, scales), n // scales.shape[-1], axis=-1)


def quantize(
    x: Float[Array, "... n"], block: int, bits: int
) -> tuple[Float[Array, "... n"], Float[Array, "... blocks"]]:
    """Return the values and the scales."""
    scales = scale(sizes(split(x, block)), bits)
    return nearest(x / spread(scales, x.shape[-1]), bits), scales


def dequantize(values: Float[Array, "... n"], scales: Float[Array, "... blocks"]) -> Float[Array, "... n"]:
    """Return the product of each value and the scale of its block."""
    return np.asarray(values * np.repeat(scales, values.shape[-1] // scales.shape[-1], axis=-1))


def round_weight(w: Float[Array, "k n"], block: int, bits: int) -> Float[Array, "k n"]:
    """Return the quantized weight. Its blocks lie along k, the dimension that is summed."""
    return right_dequantize(*quantize(w.T, block, bits)).T


def product(x: Float[Array, "... k"], w: Float[Array, "k n"], block: int, bits: int) -> Float[Array, "... n"]:
    """Return the product of the quantized matrices."""
    return np.asarray(right_dequantize(*quantize(x, block, bits)) @ round_weight(w, block, bits))


right_dequantize = dequantize  # a student's mistake in one of two functions is not a mistake in the other


def quantized_bytes(numel: int, block: int, bits: int, scale_bytes: int = 1, times: int = 1) -> int:
    """Count the bytes of a block, and multiply by the number of blocks, `times` as many as in `numel`."""
    each = block * bits + 8 * scale_bytes
    return times * (numel // block) * each // 8
