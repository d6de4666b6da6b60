"""Formulas that may explain wrong numbers, such as "your result is transposed": a fixed table, and fitted formulas."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray as Array

from torchkata.inside.text import Text
from torchkata.inside.values import Plain, is_array, is_tensor

MIN_NUMBERS = 4  # minimum number of distinct values that a formula must explain
MAX_DENOMINATOR = 12  # largest denominator of a factor that is shown as a fraction
CLOSE = 16  # number of roundings by which equal numbers may differ
Numbers: TypeAlias = Array[Any, Any]


@dataclass(frozen=True)
class Pair:
    """The two sides of a comparison as numbers, the machine epsilon, and the inputs of the call."""

    yours: Numbers
    expected: Numbers
    eps: float
    given: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True)
class Formula:
    """A formula for the student's result.

    `predicted` returns NaN for elements that it does not predict, or None if the formula is not applicable.
    """

    sentence: Text
    predicted: Callable[[Pair], Numbers | None]
    is_rule: bool = True  # whether the formula determines every number of the result


def fits(formula: Formula, pairs: Sequence[Pair]) -> bool:
    """Return whether a formula predicts all answers, with enough distinct wrong numbers to rule out chance."""
    explained: set[float] = set()
    for pair in pairs:
        predicted = formula.predicted(pair)
        if predicted is None or predicted.shape != pair.yours.shape or not agrees(pair.yours, predicted, pair.eps):
            return False
        if predicted.shape != pair.expected.shape:
            explained.update(predicted[~np.isnan(predicted)].tolist())
        else:
            apart = abs(predicted - pair.expected) > 4 * compute_tolerance(pair.yours, pair.expected, pair.eps)
            explained.update(pair.expected[apart].tolist())
    return len(explained) >= MIN_NUMBERS


def agrees(yours: Numbers, predicted: Numbers, eps: float) -> bool:
    """Return whether all predicted numbers are correct up to rounding errors."""
    near = abs(yours - predicted) <= compute_tolerance(yours, predicted, eps)
    return bool(np.all(near | np.isnan(predicted) | (yours == predicted)))


def compute_tolerance(yours: Numbers, other: Numbers, eps: float) -> float:
    """Return the largest allowed difference: a few rounding errors of the largest number."""
    return CLOSE * eps * max(find_largest(yours), find_largest(other))


def find_largest(values: Numbers) -> float:
    """Return the largest absolute value that is finite."""
    sizes = abs(values)
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def to_numbers(value: Plain) -> Numbers | None:
    """Return the numbers of a tensor, array, list or number, or None for any other value. Ints stay exact."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return np.asarray(value, np.longdouble if isinstance(value, int) else np.float64)
    if isinstance(value, list) and value and all(type(item) in (int, float) for item in value):
        return np.asarray(value, np.longdouble if all(type(item) is int for item in value) else np.float64)
    if is_tensor(value):
        if value.dtype.is_complex:
            return None
        value = value.double().numpy() if value.dtype.is_floating_point else value.numpy()
    if not is_array(value) or value.dtype.kind not in "iuf":
        return None
    return value.astype(np.float64 if value.dtype.kind == "f" else np.longdouble)


def get_eps(value: Plain) -> float:
    """Return the machine epsilon of the value's type."""
    if is_tensor(value) and value.dtype.is_floating_point:
        import torch

        return torch.finfo(value.dtype).eps
    if is_array(value) and value.dtype.kind == "f":
        return float(np.finfo(value.dtype).eps)
    items = value if isinstance(value, list) else [value]
    is_float = any(isinstance(item, float) for item in items)
    return float(np.finfo(np.float64 if is_float else np.longdouble).eps)


def apply(function: Callable[..., Any], **options: Any) -> Callable[[Pair], Numbers | None]:
    """Return a function that predicts the result by applying `function` to the expected numbers."""
    return lambda pair: np.asarray(function(pair.expected, **options))


def swap_axes(expected: Numbers, axes: tuple[int, int]) -> Numbers:
    """Swap two axes. Arrays with fewer axes are returned unchanged."""
    return expected.swapaxes(*axes) if expected.ndim > max(axes) else expected


def shift(expected: Numbers, by: int) -> Numbers:
    """Shift the items by one position. The position that becomes free is filled with NaN."""
    shifted = np.roll(expected, by, axis=0 if expected.ndim else None)
    if expected.ndim:
        shifted[slice(1) if by > 0 else slice(-1, None)] = np.nan
    return shifted


def wrap(expected: Numbers, bits: int, *, is_signed: bool) -> Numbers:
    """Wrap numbers around like integers with this many bits when they overflow."""
    half = 2 ** (bits - 1) if is_signed else 0
    wrapped: Numbers = (expected + half) % 2**bits - half
    return wrapped


def reduce(expected: Numbers, by: Callable[..., Any], axis: int | None) -> Any:
    """Reduce an array over one axis or over all axes."""
    return by(expected, axis=axis) if expected.ndim and expected.size else expected


def repeat_first(pair: Pair, *, is_flat: bool) -> Numbers | None:
    """Predict that all rows (or all numbers if `is_flat`) equal the first one although they should differ."""
    yours, expected = (pair.yours.ravel(), pair.expected.ravel()) if is_flat else (pair.yours, pair.expected)
    if not (yours.ndim and yours.size and expected.ndim):
        return expected
    if np.any(yours[:1] != yours[:1]):  # NaN equals nothing
        return None
    predicted = np.full_like(yours, np.nan)
    if np.any(expected != expected[:1]):
        predicted[1:] = yours[:1]
    elif np.any(yours != yours[:1]):
        return None
    return predicted.reshape(pair.yours.shape)


def reshape_like(pair: Pair) -> Numbers | None:
    """Predict the expected numbers, reshaped to the shape of the result."""
    return pair.expected.reshape(pair.yours.shape) if pair.expected.size == pair.yours.size else None


def reorder_like(pair: Pair) -> Numbers | None:
    """Predict the expected numbers in the order in which they occur in the result."""
    if pair.expected.shape != pair.yours.shape:
        return None
    predicted = np.empty_like(pair.expected)
    predicted.flat[np.argsort(pair.yours, axis=None)] = np.sort(pair.expected, axis=None)
    return predicted


REVERSED = Text("your result is reversed")
FORMULAS = (
    Formula(Text("your result is 0 everywhere"), apply(np.zeros_like)),
    Formula(
        Text("every item equals the last expected item: does the list contain the same tensor several times?"),
        apply(lambda e: np.full_like(e, e.flat[-1]) if e.size else e),
    ),
    Formula(Text("all numbers of your result are equal"), partial(repeat_first, is_flat=True)),
    Formula(Text("all rows of your result are equal"), partial(repeat_first, is_flat=False)),
    Formula(Text("yours = -expected"), apply(np.negative)),
    *(
        Formula(Text("your result is transposed: expected.swapaxes{axes}", axes=f"{a}"), apply(swap_axes, axes=a))
        for a in ((0, 1), (1, 2), (0, 2))
    ),
    Formula(REVERSED, apply(lambda e: e[::-1] if e.ndim else e)),
    Formula(Text("each row of your result is reversed"), apply(lambda e: e[..., ::-1] if e.ndim > 1 else e)),
    Formula(Text("your result is shifted: item i is the expected item i - 1"), apply(shift, by=1)),
    Formula(Text("your result is shifted: item i is the expected item i + 1"), apply(shift, by=-1)),
    Formula(Text("yours = expected, rounded to integers"), apply(np.round)),
    Formula(Text("yours = floor(expected): is // used instead of /?"), apply(np.floor)),
    Formula(Text("yours = expected, truncated to integers"), apply(np.trunc)),
    *(
        Formula(
            Text("yours = expected, rounded to multiples of {step}", step=f"{10**-n:.{n}f}"),
            apply(np.round, decimals=n),
        )
        for n in range(1, 7)
    ),
    *(Formula(Text("yours = expected % 2**{bits}", bits=n), apply(wrap, bits=n, is_signed=False)) for n in (8, 16, 32)),
    *(
        Formula(
            Text("yours = expected, wrapped around by int{bits} overflow", bits=n), apply(wrap, bits=n, is_signed=True)
        )
        for n in (8, 16, 32)
    ),
    Formula(Text("yours = abs(expected)"), apply(np.abs)),
    Formula(Text("yours = max(expected, 0)"), apply(lambda e: np.maximum(e, 0))),
    Formula(Text("yours = expected**2"), apply(np.square)),
    Formula(Text("yours = sqrt(expected)"), apply(np.sqrt)),
    Formula(Text("yours = 1 / expected"), apply(lambda e: 1 / e)),
    Formula(Text("the numbers are right, but the shape is wrong"), reshape_like, is_rule=False),
    *(
        Formula(Text("yours = expected.{by}", by=f"{by.__name__}({text})"), apply(reduce, by=by, axis=axis))
        for axis, text in ((0, "0"), (-1, "-1"), (None, ""))
        for by in (np.sum, np.mean)
    ),
    Formula(Text("the numbers are right, but the order is wrong"), reorder_like, is_rule=False),
)


def fit_formulas(pairs: Sequence[Pair]) -> Iterator[Formula]:
    """Yield formulas fitted to the inputs or an answer: unchanged inputs, factors, added constants and bounds."""
    for name in pairs[0].given:
        yield Formula(Text("your result is {name}, unchanged", name=name), partial(predict_input, name=name))
    for size in collect_sizes(pairs[0].given):
        if len({collect_sizes(pair.given).get(size) for pair in pairs}) == 1:
            continue
        for text, power in POWERS.items():
            yield Formula(Text(text.english, size=size), partial(scale_by_size, size=size, power=power))
    usable = [pair for pair in pairs if find_largest(pair.expected) and np.isfinite(pair.yours).all()]
    if not usable or any(pair.yours.shape != pair.expected.shape for pair in pairs):
        return
    pair = min(usable, key=lambda pair: (pair.eps, -find_largest(pair.expected)))
    place = int(np.argmax(np.where(np.isfinite(pair.expected), abs(pair.expected), 0.0)))
    factor = pair.yours.flat[place] / pair.expected.flat[place]
    times = format_factor(float(factor))
    scaled = Text("yours = {factor} * expected", factor=times)
    yield Formula(scaled, lambda pair: factor * pair.expected, "." not in times)
    pair = min(usable, key=lambda pair: compute_tolerance(pair.yours, pair.expected, pair.eps))
    summand = simplify(float(np.median(pair.yours - pair.expected)), pair.eps * find_largest(pair.expected))
    plus = f"{'-' if summand < 0 else '+'} {abs(summand):.6g}"
    shifted = Text("yours = expected {summand}", summand=plus)
    yield Formula(shifted, lambda pair: pair.expected + summand, "." not in plus)
    bound = max(find_largest(pair.yours) for pair in pairs)
    cut = Text("yours = expected, clamped to [-{bound}, {bound}]", bound=f"{float(bound):.6g}")
    yield Formula(cut, lambda pair: pair.expected.clip(-bound, bound), is_rule=False)


POWERS = {
    Text("yours = expected * {size}"): 1.0,
    Text("yours = expected / {size}"): -1.0,
    Text("yours = expected * sqrt({size})"): 0.5,
    Text("yours = expected / sqrt({size})"): -0.5,
}


def predict_input(pair: Pair, name: str) -> Numbers | None:
    """Predict that the result is the input with this name, unchanged."""
    return to_numbers(pair.given.get(name))


def scale_by_size(pair: Pair, size: str, power: float) -> Numbers | None:
    """Predict the expected numbers multiplied by a power of a size."""
    found = collect_sizes(pair.given).get(size)
    return pair.expected * np.float64(found) ** power if found else None


def simplify(number: float, error: float) -> float:
    """Return the number with as few significant digits as the error allows."""
    rounded = (float(f"{number:.{digits}g}") for digits in range(1, 7))
    return next((other for other in rounded if abs(other - number) <= error), number)


def format_factor(factor: float) -> str:
    """Format a factor. It is written as a fraction if its denominator is small."""
    fraction = Fraction(factor).limit_denominator(MAX_DENOMINATOR)
    if math.isclose(factor, fraction, rel_tol=1e-5):
        return str(fraction)
    whole = round(1 / factor)
    return f"1/{whole}" if whole and math.isclose(factor * whole, 1, rel_tol=1e-5) else f"{factor:.6g}"


def collect_sizes(given: Mapping[str, Plain]) -> dict[str, float]:
    """Return the positive sizes and numbers of the inputs, keyed by the code that a student would type for them."""
    found: dict[str, float] = {}
    for name, value in given.items():
        if is_tensor(value) or is_array(value):
            found |= {f"{name}.shape[{axis}]": size for axis, size in enumerate(value.shape)}
            found[f"{name}.size" if is_array(value) else f"{name}.numel()"] = math.prod(value.shape)
        elif isinstance(value, (list, tuple)):
            found[f"len({name})"] = len(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[name] = value
    return {name: size for name, size in found.items() if size > 0 and math.isfinite(size)}
