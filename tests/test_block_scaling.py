"""Tests for block_scaling."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.block_scaling import oracle
from tests.own_answers import holds
from tests.probes import block_scaling as probes
from tests.probes.untouched import arguments_after
from tests.strategies import SEEDS, normal, rng_of, sizes
from torchkata import Plain, Student, Text, as_float64, asking, assert_close, assert_count, assert_equal, check, require

multiply, right_quantize, spread = (
    oracle.dequantize,
    oracle.quantize,
    oracle.spread,
)  # for inputs; a mistake replaces only names in `oracle`
magnitudes = oracle.MAGNITUDES
EPS = torch.finfo(torch.float32).eps
DTYPES = {4: "torch.float32", 8: "torch.float8_e4m3fn"}
BITS = st.sampled_from([4, 8])
NUMBERS = sizes(2, 4)
POWERS = st.sampled_from([40, -40, 10, -10, 70, -70])
EXTREMES = {4: (-85, 77), 8: (-91, 71)}  # powers of two that take clear cases to sizes near 1e-25 and near 1e25
TIMES = st.just(1) | st.integers(2**54, 2**55).map(lambda half: 2 * half + 1)
WORST = {4: 0.25, 8: 0.06}  # for the relative error of a product of normal matrices: about 0.13 and 0.03


@dataclass(frozen=True)
class Case:
    """A tensor whose last dimension consists of blocks, and the number of bits of the format."""

    x: Tensor
    block: int
    bits: int


def draw_blocks(rng: np.random.Generator, shape: list[int], block: int, bits: int, *, clear: bool = True) -> Tensor:
    """Return elements for blocks of which `shape` contains the numbers along each dimension.

    Args:
        clear: Choose scales that are powers of two, and elements that are clearly nearest to one value each. Otherwise,
            scales are arbitrary, and many elements are half-way between two values.
    """
    known, place = magnitudes[bits], rng.integers(0, len(magnitudes[bits]) - 1, [*shape, block])
    just_above = 0.5 + 2**-11  # in float16 and bfloat16, this is half-way
    shares = [0.0, 0.125, 0.375, 0.625, 0.875] if clear else [0.5, just_above, 1 - just_above, 0.1, 0.8]
    share = rng.choice(shares, place.shape)
    ratios = known[place] * (1 - share) + known[place + 1] * share
    np.put_along_axis(ratios, rng.integers(0, block, [*shape, 1]), known[-1], -1)
    power = rng.integers(0, 4, [*shape, 1]) if clear else rng.uniform(-3, 4, [*shape, 1])
    elements = ratios * rng.choice([-1.0, 1.0], ratios.shape) * 2.0**power
    return torch.from_numpy(elements.reshape(*shape[:-1], -1)).float()


@st.composite
def cases(draw: st.DrawFn, numbers: st.SearchStrategy[int] = NUMBERS, *, clear: bool = True) -> Case:
    """Draw a tensor with any number of dimensions. `numbers` draws the number of blocks in a row."""
    block, bits = draw(sizes(3, 5) | st.just(16)), draw(BITS)
    shape = [*draw(st.lists(sizes(2, 3), max_size=2)), draw(numbers)]
    return Case(draw_blocks(rng_of(draw(SEEDS)), shape, block, bits, clear=clear), block, bits)


def split(x: Tensor, block: int) -> Tensor:
    """Return the blocks as rows."""
    return x.reshape(*x.shape[:-1], -1, block)


def call(student: Student, case: Case, power: int = 0) -> Plain:
    """Return the student's values and scales of x * 2**power, and check their shapes, which two tests are about."""
    yours = student.call(probes.quantize, case.x, case.block, case.bits, power)
    for name, shape in (("values", case.x.shape), ("scales", split(case.x, case.block).shape[:-1])):
        right = isinstance(yours[name], Tensor) and yours[name].shape == shape
        require(right, Text("the shape of {name} is wrong", name=name), yours=yours[name])
    return yours


def check_scales(yours: Plain, case: Case) -> None:
    """Compare the scales with the largest absolute values / the largest value of the format."""
    _, scales = oracle.quantize(as_float64(case.x), case.block, case.bits)
    assert_close(yours["scales"], scales, scale=scales, what="scales")


def check_values(yours: Plain, case: Case) -> None:
    """Compare the values with the nearest ones."""
    values, scales = oracle.quantize(as_float64(case.x), case.block, case.bits)
    right = isinstance(yours["values"], Tensor) and yours["values"].isfinite().all()
    given = yours["values"].flatten().tolist() if right else []
    foreign = [each for each in given if abs(each) not in magnitudes[case.bits]]
    mistake = Text("{number} is not a value of the format", number=f"{foreign[0]:.6g}") if foreign else ""
    if right and np.array_equal(given, multiply(values, scales).astype(np.float32).flatten()) and (scales != 1).any():
        mistake = Text("the values are multiplied by their scale: only dequantize multiplies them")
    expected = torch.from_numpy(values).float()
    ratios = (as_float64(case.x) / spread(scales, case.x.shape[-1])).flatten()
    wrong = [i for i, (one, value) in enumerate(zip(given, expected.flatten().tolist(), strict=False)) if one != value]
    ratio = f"{ratios[wrong[0]]:.6g}" if wrong else ""
    note = Text("where the first wrong value is, x / scale is {ratio}", ratio=ratio) if wrong else ""
    assert_equal(yours["values"], expected, what="values", note=note, mistake=mistake)


def is_right(yours: Plain, case: Case) -> bool:
    """Return whether the values and the scales are right."""
    return holds(check_scales, yours, case) and holds(check_values, yours, case)


def find_double_rounding(yours: Plain, case: Case) -> Text | str:
    """Return a sentence if x / scale was rounded to a format in between: bfloat16, float16, or multiples of 0.5."""
    if case.bits == 4:
        ratios = as_float64(split(case.x, case.block) / yours["scales"][..., None])
        sizes = np.round(2 * abs(ratios)) / 2
        sizes = np.where(sizes > 2, np.round(sizes), sizes)
        sizes = np.copysign(np.where(sizes > 4, 2 * np.round(sizes / 2), sizes), ratios)
        halves = np.array_equal(as_float64(split(yours["values"], case.block)), sizes)
        return Text("with 4 bits, x / scale is rounded twice, first to a multiple of 0.5") if halves else ""
    return Text("with 8 bits, x / scale is rounded twice, first to 16 bits") if is_from_16_bits(yours, case) else ""


def is_from_16_bits(yours: Plain, case: Case) -> bool:
    """Return whether the fp8 values are those of x / scale in bfloat16 or float16, but not those in float32."""
    ratios, values = split(case.x, case.block) / yours["scales"][..., None], split(yours["values"], case.block)
    dtypes = torch.float32, torch.bfloat16, torch.float16
    once, *twice = (values.equal(ratios.to(dtype).to(torch.float8_e4m3fn).float()) for dtype in dtypes)
    return any(twice) and not once


def restore(yours: Plain) -> np.ndarray:
    """Return the student's values times the student's scales."""
    return multiply(as_float64(yours["values"]), as_float64(yours["scales"]))


@given(cases(clear=False))
def test_scale_maps_largest_element_to_largest_value(student: Student, case: Case) -> None:
    """The scales (float32, shape (..., blocks)) are each block's largest absolute value / the format's (6 or 448)."""
    check_scales(student.call(probes.quantize, case.x, case.block, case.bits), case)


@given(cases())
def test_values_are_nearest_to_x_over_scale(student: Student, case: Case) -> None:
    """The values, in the shape of x, are the values of the format that are nearest to x / scale."""
    yours = student.call(probes.quantize, case.x, case.block, case.bits)
    require(holds(check_scales, yours, case), Text("the scales are wrong"), yours=yours["scales"])
    check_values(yours, case)


@given(cases(clear=False))
def test_error_is_at_most_half_a_gap(student: Student, case: Case) -> None:
    """|value · scale - x| is at most half the gap between two values times the block's largest |x| / (6 or 448)."""
    yours = call(student, case)
    restored, x, known = restore(yours), as_float64(case.x), magnitudes[case.bits]
    scales = np.repeat(as_float64(split(case.x, case.block).abs().amax(-1)) / known[-1], case.block, axis=-1)
    most = scales * np.diff(known)[np.searchsorted(known[1:-1], abs(x) / scales)] / 2
    excess = np.nan_to_num(abs(restored - x) - most - 8 * EPS * abs(x), nan=np.inf)
    worst = np.unravel_index(np.argmax(excess), x.shape)
    note = Text("value · scale where x is {element}", element=f"{x[worst]:.6g}")
    yours_there = f"{restored[worst]:.6g}"
    nearest = multiply(*right_quantize(x, case.block, case.bits))[worst]
    expected = Text(
        "{nearest}, at most {gap} away from {element}",
        nearest=f"{nearest:.6g}",
        gap=f"{most[worst]:.3g}",
        element=f"{x[worst]:.6g}",
    )
    mistake = find_double_rounding(yours, case)
    check(excess[worst] <= 0, note, yours=yours_there, expected=expected, mistake=mistake)


@given(cases(st.integers(2, 4)), SEEDS)
def test_outlier_harms_only_its_own_block(student: Student, case: Case, seed: int) -> None:
    """If one element becomes 1000 times as large, the values and scales of all other blocks stay as they were."""
    blocks = split(case.x.clone(), case.block)
    place = tuple(int(rng_of(seed).integers(size)) for size in blocks.shape)
    blocks[place] = 1000 * blocks.abs().max()
    answers = [call(student, each) for each in (case, replace(case, x=blocks.reshape(case.x.shape)))]
    for each in answers:
        each["values"] = split(each["values"], case.block)
        each["values"][place[:-1]] = each["scales"][place[:-1]] = 0
    note = Text("an element of one block changes another block: do they share a scale?")
    for name in ("scales", "values"):
        before, after = (each[name] for each in answers)
        assert_equal(after, before, what=Text("{name} of the other blocks", name=name), note=note)


@given(cases(), POWERS)
def test_power_of_two_changes_only_scales(student: Student, case: Case, power: int) -> None:
    """If x is multiplied by a power of two, tiny or huge, the scales are multiplied by it and the values stay."""
    plain = call(student, case)
    for each in (power, *EXTREMES[case.bits]):
        factor = 2.0**each
        far = replace(case, x=case.x * factor)
        yours = call(student, case, each)
        if is_right(plain, case) or is_right(yours, far):
            check_scales(yours, far)
            check_values(yours, far)
        else:
            what = Text("values (expected: those of x / {factor})", factor=factor)
            assert_equal(yours["values"], plain["values"], what=what)
            assert_equal(yours["scales"] / factor, plain["scales"], what=Text("scales / {factor}", factor=factor))


@given(cases(), SEEDS)
def test_blocks_of_zeros_give_zeros(student: Student, case: Case, seed: int) -> None:
    """The values of a block of zeros are zeros, and its scale is finite."""
    blocks = split(case.x, case.block)
    zero = torch.from_numpy(rng_of(seed).integers(0, 2, blocks.shape[:-1])).bool()
    zero.view(-1)[0] = True
    yours = call(student, replace(case, x=blocks.where(~zero[..., None], 0.0).reshape(case.x.shape)))
    values = split(yours["values"], case.block)[zero]
    mistake = Text("the values of a block of zeros are NaN, as after 0 / 0") if values.isnan().any() else ""
    assert_equal(values, torch.zeros_like(values), what=Text("values of blocks of zeros"), mistake=mistake)
    check(bool(yours["scales"].isfinite().all()), Text("the scale is not finite"), yours=yours["scales"])


@given(cases(), SEEDS)
def test_dequantize_multiplies_by_scale_of_block(student: Student, case: Case, seed: int) -> None:
    """dequantize multiplies each value by the scale of its block, in float32, and keeps the shape of the values."""
    values, scales = right_quantize(as_float64(case.x), case.block, case.bits)
    scales = as_float64(torch.from_numpy(scales * rng_of(seed).uniform(1, 2, scales.shape)).float())
    given_values, given_scales = (torch.from_numpy(each).float() for each in (values, scales))
    yours = student.call(probes.dequantize, given_values, given_scales, case.bits)
    assert_close(yours, oracle.dequantize(values, scales), scale=multiply(abs(values), scales))


@given(cases(clear=False))
def test_second_quantization_changes_nothing(student: Student, case: Case) -> None:
    """Quantizing value · scale again returns the same values and, up to rounding, the same float32 scales."""
    first = call(student, case)
    restored = torch.from_numpy(restore(first)).float()
    require(bool(restored.isfinite().all()), Text("value · scale is not finite"), yours=restored)
    again = call(student, replace(case, x=restored))
    assert_equal(again["values"], first["values"], what="values")
    scales = as_float64(first["scales"])
    assert_close(again["scales"], scales, scale=abs(scales), what="scales")


@given(cases(), sizes(1, 3), SEEDS)
def test_product_quantizes_both_along_k(student: Student, case: Case, columns: int, seed: int) -> None:
    """scaled_matmul quantizes x and w in blocks along k, and multiplies value · scale of both in float32."""
    block, bits = case.block, case.bits
    transposed = draw_blocks(rng_of(seed), [columns * block, case.x.shape[-1] // block], block, bits)
    both, w = (case, Case(transposed, block, bits)), transposed.T.contiguous()
    own, rows_of_w = [call(student, each) for each in both], call(student, Case(w, block, bits))
    yours = student.call("block_scaling.scaled_matmul", case.x, w, block, bits)  # last, so that a failure shows it
    expected = oracle.product(as_float64(case.x), as_float64(w), block, bits)
    scale = abs(as_float64(case.x)) @ abs(as_float64(w))
    if not (all(map(is_right, own, both)) or holds(assert_close, yours, expected, scale=scale, roundings=32)):
        restored = [restore(each) for each in own]
        expected, scale = restored[0] @ restored[1].T, abs(restored[0]) @ abs(restored[1].T)
    in_rows = restore(own[0]) @ restore(rows_of_w)
    rows = Text("the blocks of w lie in its rows, not along k, which is summed")
    mistake = rows if holds(assert_close, yours, in_rows, scale=scale, roundings=32) else ""
    assert_close(yours, expected, scale=scale, roundings=32, mistake=mistake)


def test_product_error_exceeds_that_of_bfloat16(student: Student, seed: int) -> None:
    """The relative error of a product of normal matrices is larger than in bfloat16, but small: below 25% or 6%."""
    rng = rng_of(seed)
    x, w = normal(rng, [32, 128]), normal(rng, [128, 32])
    exact, coarse = as_float64(x) @ as_float64(w), as_float64(x.bfloat16()) @ as_float64(w.bfloat16())
    for bits, worst in WORST.items():
        yours = student.call("block_scaling.scaled_matmul", x, w, 16, bits)
        require(isinstance(yours, Tensor) and yours.shape == exact.shape, Text("the shape is wrong"), yours=yours)
        error, least = (np.linalg.norm(each - exact) / np.linalg.norm(exact) for each in (as_float64(yours), coarse))
        expected = Text("between {least} (bfloat16) and {most}", least=f"{least:.2%}", most=f"{worst:.0%}")
        note = Text("the relative error of the product with {bits} bits", bits=bits)
        check(bool(least < error < worst), note, yours=f"{error:.2%}", expected=expected)


@given(sizes(8, 32), sizes(2, 9), BITS, st.sampled_from([2, 1, 4]), TIMES)
def test_bytes_include_scales(student: Student, half: int, blocks: int, bits: int, each: int, times: int) -> None:
    """quantized_bytes is an exact int: bits / 8 bytes per element and scale_bytes bytes per block."""
    yours = student.call("block_scaling.quantized_bytes", 2 * half * blocks * times, 2 * half, bits, each)
    assert_count(yours, oracle.quantized_bytes(2 * half * blocks, 2 * half, bits, each, times), what=Text("bytes"))


@given(sizes(8, 32), sizes(2, 9), BITS)
def test_scale_takes_one_byte_by_default(student: Student, half: int, blocks: int, bits: int) -> None:
    """Without scale_bytes, quantized_bytes is an exact int: bits / 8 bytes per element and one byte per block."""
    yours = student.call("block_scaling.quantized_bytes", 2 * half * blocks, 2 * half, bits)
    assert_count(yours, oracle.quantized_bytes(2 * half * blocks, 2 * half, bits), what=Text("bytes"))


@given(cases())
def test_values_have_dtype_of_format(student: Student, case: Case) -> None:
    """The values are float8_e4m3fn with 8 bits, and float32 with 4."""
    yours = student.call(probes.quantize, case.x, case.block, case.bits)
    with asking(probes.SHOW_DTYPE):
        assert_equal(yours["dtype"], DTYPES[case.bits], what=Text("dtype of the values"))


@given(cases())
def test_x_is_not_modified(student: Student, case: Case) -> None:
    """quantize does not modify x."""
    before = [case.x, case.block, case.bits]
    after = student.call(arguments_after, "block_scaling.quantize", before)
    assert_equal(after, before, what="arguments", mistake=Text("quantize modifies x in place"))
