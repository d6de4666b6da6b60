"""Formulas by which wrong numbers may follow from the right ones: a table of them, and some that are fitted."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray as Array

from torchkata.seam.values import Plain, is_array, is_tensor

MIN_NUMBERS = 4  # different numbers that a formula has to explain
MAX_DENOMINATOR = 12  # denominator of a fraction that is shown as one
CLOSE = 16  # roundings within which two numbers agree
Numbers: TypeAlias = Array[Any, Any]


@dataclass(frozen=True)
class Pair:
    """The numbers of a comparison, and the size of a rounding."""

    yours: Numbers
    expected: Numbers
    eps: float
    given: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True)
class Formula:
    """What yours may be: `predicted` has a NaN where it says nothing, and is None where it can't be that."""

    key: str
    predicted: Callable[[Pair], Numbers | None]
    values: Mapping[str, object] = field(default_factory=dict)
    is_rule: bool = True  # it says of each number where it comes from, and not only how it lies to another


def fits(formula: Formula, pairs: Sequence[Pair]) -> bool:
    """Whether a formula predicts all answers, and enough of them that are not what is expected."""
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
    """Whether all numbers are those that are predicted, as far as they are."""
    near = abs(yours - predicted) <= compute_tolerance(yours, predicted, eps)
    return bool(np.all(near | np.isnan(predicted) | (yours == predicted)))


def compute_tolerance(yours: Numbers, other: Numbers, eps: float) -> float:
    """Some roundings of the largest number."""
    sizes = abs(np.concatenate([yours.ravel(), other.ravel()]))
    return CLOSE * eps * float(sizes[np.isfinite(sizes)].max(initial=0.0))


def find_largest(values: Numbers) -> float:
    """The size of the largest finite number."""
    sizes = abs(values)
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def to_numbers(value: Plain) -> Numbers | None:
    """The numbers of a tensor, an array, a list or a number; None of anything else. Those of an int stay exact."""
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
    """How far apart numbers of its type are at 1."""
    if is_tensor(value) and value.dtype.is_floating_point:
        import torch

        return torch.finfo(value.dtype).eps
    if is_array(value) and value.dtype.kind == "f":
        return float(np.finfo(value.dtype).eps)
    items = value if isinstance(value, list) else [value]
    is_float = any(isinstance(item, float) for item in items)
    return float(np.finfo(np.float64 if is_float else np.longdouble).eps)


def swap_axes(axes: tuple[int, int]) -> Callable[[Pair], Numbers | None]:
    """With two axes exchanged; fewer leave nothing to exchange."""

    def predicted(pair: Pair) -> Numbers:
        expected = pair.expected
        return expected.swapaxes(*axes) if expected.ndim > max(axes) else expected

    return predicted


def shift_late(pair: Pair) -> Numbers | None:
    """Each item as the one before it should be; the first may be anything."""
    return (
        pair.expected if not pair.expected.ndim else np.concatenate([fill_nan(pair.expected[:1]), pair.expected[:-1]])
    )


def shift_early(pair: Pair) -> Numbers | None:
    """Each item as the next should be; the last may be anything."""
    return (
        pair.expected if not pair.expected.ndim else np.concatenate([pair.expected[1:], fill_nan(pair.expected[-1:])])
    )


def fill_nan(like: Numbers) -> Numbers:
    """Numbers of which nothing is said."""
    return np.full(like.shape, np.nan)


def repeat_first_number(pair: Pair) -> Numbers | None:
    """The first number, wherever others are expected; of the first itself nothing is said."""
    return repeat_first_row(replace(pair, yours=pair.yours.ravel(), expected=pair.expected.ravel()), pair.yours.shape)


def repeat_first_row(pair: Pair, shape: tuple[int, ...] | None = None) -> Numbers | None:
    """The first row, wherever others are expected; of the first itself nothing is said, nor where all should be it."""
    yours, expected = pair.yours, pair.expected
    if not (yours.ndim and yours.size and expected.ndim):
        return expected
    if np.all(expected == expected[:1]):
        return fill_nan(yours).reshape(shape or yours.shape) if np.all(yours == yours[:1]) else None
    return np.concatenate([fill_nan(yours[:1]), np.broadcast_to(yours[:1], yours[1:].shape)]).reshape(
        shape or yours.shape
    )


def reshape_like(pair: Pair) -> Numbers | None:
    """The same numbers, in the same order, in the shape of yours."""
    return pair.expected.reshape(pair.yours.shape) if pair.expected.size == pair.yours.size else None


def reorder_like(pair: Pair) -> Numbers | None:
    """The same numbers in the order of yours."""
    if pair.expected.shape != pair.yours.shape:
        return None
    predicted = np.empty_like(pair.expected)
    predicted.flat[np.argsort(pair.yours, axis=None)] = np.sort(pair.expected, axis=None)
    return predicted


def wrap_unsigned(bits: int) -> Callable[[Pair], Numbers | None]:
    """In an unsigned integer of so many bits."""
    return lambda pair: pair.expected % 2**bits


def wrap_signed(bits: int) -> Callable[[Pair], Numbers | None]:
    """In an integer of so many bits."""
    half = 2 ** (bits - 1)
    return lambda pair: (pair.expected + half) % (2 * half) - half


def apply(function: Callable[[Numbers], Any]) -> Callable[[Pair], Numbers | None]:
    """A function of what is expected."""
    return lambda pair: np.asarray(function(pair.expected))


def reduce(function: Callable[..., Any], axis: int | None) -> Callable[[Pair], Numbers | None]:
    """What is expected, reduced by one axis or by all."""

    def predicted(pair: Pair) -> Numbers | None:
        expected = pair.expected
        return np.asarray(function(expected, axis=axis)) if expected.ndim and expected.size else expected

    return predicted


FORMULAS = (
    Formula("relation.zero", apply(np.zeros_like)),
    Formula("relation.all_the_same", repeat_first_number),
    Formula("relation.rows_the_same", repeat_first_row),
    Formula("relation.negated", apply(np.negative)),
    *(Formula("relation.transposed", swap_axes(axes), {"axes": f"{axes}"}) for axes in ((0, 1), (1, 2), (0, 2))),
    Formula("relation.reversed", apply(lambda e: e[::-1] if e.ndim else e)),
    Formula("relation.rows_reversed", apply(lambda e: e[..., ::-1] if e.ndim > 1 else e)),
    Formula("relation.late", shift_late),
    Formula("relation.early", shift_early),
    Formula("relation.whole", apply(np.round)),
    Formula("relation.truncated", apply(np.trunc)),
    *(Formula("relation.decimals", apply(partial(np.round, decimals=n)), {"count": n}) for n in range(1, 7)),
    *(Formula("relation.modulo", wrap_unsigned(n), {"bits": n}) for n in (8, 16, 32)),
    *(Formula("relation.signed", wrap_signed(n), {"bits": n}) for n in (8, 16, 32)),
    Formula("relation.absolute", apply(np.abs)),
    Formula("relation.cut_at_zero", apply(lambda e: np.maximum(e, 0))),
    Formula("relation.squared", apply(np.square)),
    Formula("relation.root", apply(np.sqrt)),
    Formula("relation.inverse", apply(lambda e: 1 / e)),
    Formula("relation.shape", reshape_like, is_rule=False),
    *(Formula("relation.reduced", reduce(np.sum, axis), {"by": f"sum({axis})"}) for axis in (0, -1)),
    *(Formula("relation.reduced", reduce(np.mean, axis), {"by": f"mean({axis})"}) for axis in (0, -1)),
    Formula("relation.reduced", reduce(np.sum, None), {"by": "sum()"}),
    Formula("relation.reduced", reduce(np.mean, None), {"by": "mean()"}),
    Formula("relation.order", reorder_like, is_rule=False),
)
SHAPE_FORMULAS = tuple(
    replace(formula, key="relation.stored_transposed") if formula.key == "relation.reversed" else formula
    for formula in FORMULAS
)  # of numbers that are the sizes of a shape


def get_input(pair: Pair, name: str) -> Numbers | None:
    """What was given under this name."""
    return to_numbers(pair.given.get(name))


def make_input_formulas(pairs: Sequence[Pair]) -> Iterator[Formula]:
    """An input, as it was."""
    for name in pairs[0].given:
        yield Formula("relation.unchanged", partial(get_input, name=name), {"name": name})


def fit_formulas(pairs: Sequence[Pair]) -> Iterator[Formula]:
    """A factor, a summand or a bound, taken from an answer: a factor by the name of a size, if it has one."""
    for size in collect_sizes(pairs[0].given):
        if len({collect_sizes(pair.given).get(size) for pair in pairs}) == 1:
            continue
        for key, power in POWERS.items():
            yield Formula(key, scale_by_size(size, power), {"size": size})
    pair = max(pairs, key=lambda pair: pair.yours.shape == pair.expected.shape and find_largest(pair.expected))
    if pair.yours.shape != pair.expected.shape or not find_largest(pair.expected) or not np.isfinite(pair.yours).all():
        return
    place = int(np.argmax(np.where(np.isfinite(pair.expected), abs(pair.expected), 0.0)))
    yours, expected = pair.yours.flat[place], pair.expected.flat[place]
    factor, summand, bound = yours / expected, yours - expected, max(find_largest(pair.yours) for pair in pairs)
    named = {"factor": format_factor(float(factor))}
    yield Formula("relation.scaled", lambda pair: factor * pair.expected, named, "." not in named["factor"])
    added = {"summand": format_summand(float(summand))}
    yield Formula("relation.shifted", lambda pair: pair.expected + summand, added, "." not in added["summand"])
    cut = {"bound": f"{float(bound):.6g}"}
    yield Formula("relation.bounded", lambda pair: pair.expected.clip(-bound, bound), cut, is_rule=False)


POWERS = {"relation.times": 1.0, "relation.over": -1.0, "relation.times_root": 0.5, "relation.over_root": -0.5}


def scale_by_size(size: str, power: float) -> Callable[[Pair], Numbers | None]:
    """Multiplied by a power of a size."""

    def predicted(pair: Pair) -> Numbers | None:
        found = collect_sizes(pair.given).get(size)
        return pair.expected * np.float64(found) ** power if found else None

    return predicted


def format_factor(factor: float) -> str:
    """A factor before the sign of a product: a fraction of small numbers, if it is one."""
    fraction = Fraction(factor).limit_denominator(MAX_DENOMINATOR)
    if math.isclose(factor, fraction, rel_tol=1e-5):
        return str(fraction)
    whole = round(1 / factor)
    return f"1/{whole}" if whole and math.isclose(factor * whole, 1, rel_tol=1e-5) else f"{factor:.6g}"


def format_summand(summand: float) -> str:
    """A summand after its sign."""
    return f"{'-' if summand < 0 else '+'} {abs(summand):.6g}"


def collect_sizes(given: Mapping[str, Plain]) -> dict[str, float]:
    """The positive numbers that an input is or has, by what a student would type for them."""
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
