"""Common mistakes in block_scaling."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from reference.block_scaling import oracle
from torchkata import Mistake, instead_of

nearest, quantize, quantized_bytes = oracle.nearest, oracle.quantize, oracle.quantized_bytes
FP4 = oracle.MAGNITUDES[4]
STRIDED = "a block has elements that are n / block apart, not neighbors"
EPS = [10.0**-n for n in (30, 24, 20, 16, *range(15, 1, -1))]


def measure(message: str, mistaken: Callable[[Any], Any]) -> Mistake:
    """Return a mistake in the number from which the scale of each block is computed."""
    return instead_of(oracle.sizes, message)(mistaken)


def scale(message: str, mistaken: Callable[..., Any], **constants: list[float]) -> Mistake:
    """Return a mistake in the scale of a block with the given largest absolute value."""
    return instead_of(oracle.scale, message, **constants)(mistaken)


def round_fp4(message: str, mistaken: Callable[[Any], Any]) -> Mistake:
    """Return a mistake in rounding to fp4. (torch rounds to fp8.)"""
    return instead_of(oracle.nearest, f"with 4 bits, {message}")(
        lambda ratios, bits: nearest(ratios, bits) if bits == 8 else mistaken(ratios) + 0.0
    )


def to_fp8(ratios: Any) -> Any:
    """Return the nearest values as torch does: of two that are equally near, the even one."""
    return torch.from_numpy(np.asarray(ratios)).float().to(torch.float8_e4m3fn).double().numpy() + 0.0


def multiply(message: str, mistaken: Callable[[Any, Any, int, int], Any]) -> Mistake:
    """Return a mistake in the product."""
    return instead_of(oracle.product, message)(mistaken)


def count(message: str, mistaken: Callable[[int, int, int, int], float]) -> Mistake:
    """Return a mistake in bytes, given the numbers of elements and blocks, the bits per element and bytes per scale."""
    return instead_of(oracle.quantized_bytes, message)(
        lambda numel, block, bits, scale_bytes=1, times=1: mistaken(
            times * numel, times * numel // block, bits, scale_bytes
        )
    )


without_abs = measure("the scale comes from the largest element: use absolute values", lambda blocks: blocks.max(-1))
abs_too_late = measure("the absolute value is taken after the maximum, not before", lambda blocks: abs(blocks.max(-1)))
mean_of_block = measure("the scale comes from the mean absolute value", lambda blocks: abs(blocks).mean(-1))
half_range = measure("the scale comes from (largest - smallest element) / 2", lambda blocks: np.ptp(blocks, -1) / 2)
one_for_all = measure("the whole tensor has one scale", lambda blocks: np.full(blocks.shape[:-1], abs(blocks).max()))
one_per_row = measure(
    "all blocks of a row have the same scale",
    lambda blocks: np.broadcast_to(abs(blocks).max((-2, -1))[..., None], blocks.shape[:-1]),
)
strided_split = instead_of(oracle.split, STRIDED)(lambda x, block: x.reshape(*x.shape[:-1], block, -1).swapaxes(-1, -2))
strided_spread = instead_of(oracle.spread, STRIDED)(lambda scales, n: np.tile(scales, n // scales.shape[-1]))
other_largest_fp4 = scale(
    "with 4 bits, the largest absolute value is divided by {most:g}, not by 6",
    lambda size, bits, most: size / (most if bits == 4 else 448),
    most=[1, 4, 7, 8, 448],
)
other_largest_fp8 = scale(
    "with 8 bits, the largest absolute value is divided by {most:g}, not by 448",
    lambda size, bits, most: size / (most if bits == 8 else 6),
    most=[1, 6, 127, 240, 256, 480],
)
power_of_two = scale(
    "the scale is rounded up to a power of two", lambda size, bits: 2 ** np.ceil(np.log2(size / oracle.largest(bits)))
)
at_least = scale(
    "the largest absolute value is clamped to at least {eps:g}",
    lambda size, bits, eps: np.maximum(size, eps) / oracle.largest(bits),
    eps=EPS,
)
clamped = scale(
    "the scale is clamped to at least {eps:g}",
    lambda size, bits, eps: np.maximum(size / oracle.largest(bits), eps),
    eps=EPS,
)
added = scale(
    "{eps:g} is added to the scale, which can be much smaller",
    lambda size, bits, eps: size / oracle.largest(bits) + eps,
    eps=[1e-30, 1e-28, *EPS],
)
undivided = instead_of(oracle.spread, "x is rounded without being divided by the scale")(
    lambda scales, n: np.ones((*scales.shape[:-1], n))
)
inverted = instead_of(oracle.quantize, "the returned scales are inverted")(
    lambda x, block, bits: (quantize(x, block, bits)[0], 1 / quantize(x, block, bits)[1])
)
not_divided = instead_of(
    oracle.quantize,
    "the returned scales are the largest absolute values, not divided by the largest value of the format",
)(lambda x, block, bits: (quantize(x, block, bits)[0], quantize(x, block, bits)[1] * oracle.largest(bits)))
truncated = round_fp4(
    "x / scale is rounded toward 0, not to nearest",
    lambda ratios: np.copysign(FP4[np.searchsorted(FP4, abs(ratios), side="right") - 1], ratios),
)
rounded_away = round_fp4(
    "x / scale is rounded away from 0, not to nearest",
    lambda ratios: np.copysign(FP4[np.searchsorted(FP4, abs(ratios)).clip(max=len(FP4) - 1)], ratios),
)
whole_numbers = round_fp4("x / scale is rounded to a whole number, but 5 is not in fp4, and 0.5 and 1.5 are", np.round)
halves = round_fp4(
    "x / scale is rounded to a multiple of 0.5, but 2.5, 3.5, 4.5, 5 and 5.5 are not in fp4",
    lambda ratios: np.round(2 * ratios) / 2,
)


@instead_of(oracle.nearest, "with 4 bits, x / scale is rounded twice, first to a multiple of 0.5")
def halves_first(ratios: Any, bits: int) -> Any:
    once = np.round(2 * abs(ratios)) / 2
    twice = np.where(once > 2, np.round(once), once)
    last = np.where(twice > 4, 2 * np.round(twice / 2), twice)
    return nearest(ratios, 8) if bits == 8 else np.copysign(last, ratios) + 0.0


@instead_of(oracle.nearest, "with 4 bits, the value {left_out:g} is missing", left_out=FP4[1:-1].tolist())
def one_missing(ratios: Any, bits: int, left_out: float) -> Any:
    known = FP4[left_out != FP4]
    found = known[np.searchsorted((known[1:] + known[:-1]) / 2, abs(ratios))]
    return np.copysign(found, ratios) + 0.0 if bits == 4 else nearest(ratios, bits)


whole_numbers_first = instead_of(oracle.nearest, "with 8 bits, x / scale is rounded twice, first to a whole number")(
    lambda ratios, bits: to_fp8(np.round(ratios)) if bits == 8 else nearest(ratios, bits)
)
without_sign = round_fp4("the sign is lost", lambda ratios: nearest(abs(ratios), 4))
negatives_are_zero = round_fp4("negative numbers become 0", lambda ratios: nearest(ratios.clip(0), 4))
not_rounded = round_fp4("x / scale is not rounded", lambda ratios: ratios)
fp8_scales = instead_of(oracle.dequantize, "with 8 bits, dequantize rounds the scales to fp8")(
    lambda values, scales: oracle.right_dequantize(
        values, nearest(scales, 8) if abs(values).max() > FP4[-1] else scales
    )
)
divided = instead_of(oracle.dequantize, "dequantize divides by the scales")(
    lambda values, scales: values / np.repeat(scales, values.shape[-1] // scales.shape[-1], axis=-1)
)
tiled = instead_of(oracle.dequantize, "dequantize repeats the scales in turn, not each for its whole block")(
    lambda values, scales: values * np.tile(scales, values.shape[-1] // scales.shape[-1])
)
unscaled = instead_of(oracle.dequantize, "dequantize ignores the scales")(lambda values, scales: values)
not_quantized = multiply("neither x nor w is quantized", lambda x, w, block, bits: x @ w)
only_w = multiply("x is not quantized", lambda x, w, block, bits: x @ oracle.round_weight(w, block, bits))
only_x = instead_of(oracle.round_weight, "w is not quantized")(lambda w, block, bits: w)
values_only = multiply(
    "the values are multiplied without their scales",
    lambda x, w, block, bits: quantize(x, block, bits)[0] @ quantize(w.T, block, bits)[0].T,
)
without_scales = count("omits the scales", lambda n, blocks, bits, each: n * bits // 8)
one_scale = count("counts one scale for the whole tensor", lambda n, blocks, bits, each: n * bits // 8 + each)
one_scale_per_place = count(
    "counts `block` scales, not numel / block", lambda n, blocks, bits, each: n * bits // 8 + n // blocks * each
)
one_scale_more = count("counts one scale too many", lambda n, blocks, bits, each: n * bits // 8 + (blocks + 1) * each)
scale_per_element = count("counts a scale for each element", lambda n, blocks, bits, each: n * bits // 8 + n * each)
whole_bytes = count("counts a byte for each element of 4 bits", lambda n, blocks, bits, each: n + blocks * each)
added_to_bits = count(
    "adds the bytes of the scales to the bits of the elements, and divides both by 8",
    lambda n, blocks, bits, each: (n * bits + blocks * each) // 8,
)
in_bits = count("returns bits instead of bytes", lambda n, blocks, bits, each: n * bits + 8 * blocks * each)
always_one = count("always counts 1 byte per scale", lambda n, blocks, bits, each: n * bits // 8 + blocks)
as_float = count("returns a float", lambda n, blocks, bits, each: n * bits / 8 + blocks * each)
as_float_first = count(
    "is computed with floats, which round large numbers, and int() rounds down: use //",
    lambda n, blocks, bits, each: int(n * (bits / 8 + each / (n // blocks))),
)
four_by_default = instead_of(oracle.quantized_bytes, "counts 4 bytes per scale by default instead of 1")(
    lambda numel, block, bits, scale_bytes=4, times=1: quantized_bytes(numel, block, bits, scale_bytes, times)
)
