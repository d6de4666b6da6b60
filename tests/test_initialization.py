"""Property tests for initialization, which draws from a normal truncated at three standard deviations."""

from itertools import pairwise

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.initialization import oracle
from reference.initialization.oracle import TruncatedNormal
from tests.probes import initialization as probes
from tests.sampling import MANY, Z, chi_square_range, repeated_share
from tests.strategies import DEFAULT_DTYPES, sizes
from torchkata import Student, Text, as_float64, assert_equal, check, require

LARGE = [(512, 1024), (1, 2**19)]  # 2**19 weights each, which is enough to detect 1.3%
EDGES = [0.0, 0.002, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.7, 2.8, 2.9, 2.95, 3.0]
right_distribution = oracle.distribution  # stored here so that no mistake replaces it
FAR_OFF = 0.02  # relative error of a standard deviation
RARE = 1e-9  # expected number of weights in a range where a known mistake has none


def draw_weight(student: Student, input_dim: int, output_dim: int, seed: int) -> np.ndarray:
    """Return the elements of one new weight. Only one test checks its dtype, and whether it is transposed."""
    (weight,) = student.call(probes.weights, input_dim, output_dim, 1, seed)["weights"]
    right = isinstance(weight, torch.Tensor) and weight.is_floating_point()
    require(
        right and sorted(weight.shape) == sorted((input_dim, output_dim)),
        Text("the shape or dtype is wrong"),
        yours=weight,
        expected=f"float32[{input_dim}, {output_dim}]",
    )
    return as_float64(weight).flatten()


def draw_with_right_std(
    student: Student, input_dim: int, output_dim: int, seed: int
) -> tuple[np.ndarray, TruncatedNormal]:
    """Return a new weight and its distribution. Only one test checks the standard deviation: here it must be right."""
    weights, law = draw_weight(student, input_dim, output_dim, seed), oracle.distribution(input_dim, output_dim)
    ratio = measure_rms(weights) / right_distribution(input_dim, output_dim).variance ** 0.5
    require(abs(ratio - 1) <= FAR_OFF, Text("the standard deviation is wrong"))
    return weights, law


def measure_rms(weights: np.ndarray) -> float:
    """Return the root mean square."""
    return float((weights**2).mean() ** 0.5)


def count_by_range(weights: np.ndarray, law: TruncatedNormal) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of weights in each range above 0, then below 0, and the expected numbers."""
    z = weights / law.std
    z = z[abs(z) <= EDGES[-1] * (1 + 1e-6)].clip(-EDGES[-1], EDGES[-1])  # another test checks the weights beyond
    above = np.where(z == 0, np.arange(z.size) % 2 == 0, z > 0)  # counts zeros on both sides
    counts = np.concatenate([np.histogram(side, EDGES)[0] for side in (z[above], -z[~above])])
    both = weights.size * np.array([law.share(*pair) for pair in pairwise(EDGES)])
    return counts, np.concatenate([law.positive * both, (1 - law.positive) * both])


def compute_terms(counts: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the terms of a chi-square statistic."""
    terms: np.ndarray = (counts - right) ** 2 / np.maximum(right, RARE)
    return terms


@given(sizes(3, 40), sizes(2), DEFAULT_DTYPES)
def test_weight_is_a_parameter_of_expected_shape(student: Student, input_dim: int, output_dim: int, dtype: str) -> None:
    """The weight is an nn.Parameter that requires grad, of shape (input_dim, output_dim), in torch's default dtype."""
    anatomy = student.call(probes.anatomy, input_dim, output_dim, dtype)
    check(
        anatomy["is an nn.Parameter"],
        mistake=Text("the weight is not an nn.Parameter: modules and optimizers would not find it"),
    )
    check(anatomy["requires grad"], mistake=Text("the nn.Parameter does not require grad"))
    transposed = Text("the weight is stored as (output_dim, input_dim), as nn.Linear does")
    mistake = transposed if anatomy["shape"] == [output_dim, input_dim] else ""
    assert_equal(anatomy["shape"], [input_dim, output_dim], what="shape", mistake=mistake)
    assert_equal(
        anatomy["dtype"], f"torch.{dtype}", what="dtype", mistake=Text("the weight is not in torch's default dtype")
    )


def test_weights_are_within_three_standard_deviations(student: Student, seed: int) -> None:
    """The absolute value of every weight is at most 3 / sqrt(input_dim)."""
    for input_dim, output_dim in LARGE:
        weights, law = draw_with_right_std(student, input_dim, output_dim, seed)
        note = Text("in a weight of shape ({m}, {n}), an element is too far from 0", m=input_dim, n=output_dim)
        low, high = float(weights.min()), float(weights.max())
        if -low <= law.bound < high:
            note = Text("only positive weights are too far from 0")
        yours = Text("smallest {low}, largest {high}", low=f"{low:.5g}", high=f"{high:.5g}")
        expected = Text("absolute values of at most {bound}", bound=f"{law.bound:.5g}")
        check(not law.exceeds_bound(weights), note, yours=yours, expected=expected)


def test_weights_reach_three_standard_deviations(student: Student, seed: int) -> None:
    """The largest weights are about three times the root mean square of all weights: only larger ones are truncated."""
    for input_dim, output_dim in LARGE:
        weights, law = draw_weight(student, input_dim, output_dim, seed), oracle.distribution(input_dim, output_dim)
        note = Text(
            "the largest of {count} weights of ({m}, {n}) is too small", count=weights.size, m=input_dim, n=output_dim
        )
        rms = measure_rms(weights)  # as a unit, because only one test checks the standard deviation
        yours = Text("{ratio} times the root mean square", ratio=f"{float(abs(weights).max()) / (rms or 1):.4g}")
        expected = Text("at least {ratio} times the root mean square", ratio=f"{law.reach / law.variance**0.5:.4g}")
        check(not law.misses_bound(weights), note, yours=yours, expected=expected)


def test_std_is_correct_before_truncation(student: Student, seed: int) -> None:
    """The mean is 0. The standard deviation is 1 / sqrt(input_dim) before truncation, 0.9866 times as much after it."""
    for input_dim, output_dim in LARGE:
        weights, law = draw_weight(student, input_dim, output_dim, seed), oracle.distribution(input_dim, output_dim)
        variance, n = law.variance, weights.size
        size = f"({input_dim}, {output_dim})"
        rms = measure_rms(weights)
        off = rms**2 / variance - 1
        yours, expected = (
            Text("root mean square {value}", value=f"{rms:.6f}"),
            Text("about {value}", value=f"{variance**0.5:.6f}"),
        )
        note = Text("{size}: the root mean square is off by {off}", size=size, off=f"{rms / variance**0.5 - 1:.1%}")
        check(abs(off) <= Z * (2 / n) ** 0.5, note, yours=yours, expected=expected)
        ratio = rms / right_distribution(input_dim, output_dim).variance ** 0.5
        is_cut_visible = input_dim > 1 and abs(ratio - 1) <= FAR_OFF  # only then does a mistake's sentence need it
        if is_cut_visible and law.hook_has_another_form():
            check(not law.exceeds_bound(weights))
            terms = compute_terms(*count_by_range(weights, law))
            check(float(terms.sum()) <= chi_square_range(len(terms) - 1)[1])
        slack, note = Z * (variance / n) ** 0.5, Text("{size}: the mean is wrong", size=size)
        expected = Text("{mean}, within {slack}", mean=f"{law.mean:.4g}", slack=f"{slack:.2g}")
        check(abs(weights.mean() - law.mean) <= slack, note, yours=float(weights.mean()), expected=expected)


def test_distribution_is_a_truncated_normal(student: Student, seed: int) -> None:
    """The weights are independent and normally distributed, truncated on both sides by redrawing, not by clamping."""
    for input_dim, output_dim in LARGE:
        weights, law = draw_with_right_std(student, input_dim, output_dim, seed)
        counts, right = count_by_range(weights, law)
        terms = compute_terms(counts, right)
        worst = int(np.argmax(terms))
        side, low = divmod(worst, len(right) // 2)
        amount = Text("many") if counts[worst] > right[worst] else Text("few")
        place = Text(
            "{low} to {high} standard deviations {side} 0",
            low=EDGES[low],
            high=EDGES[low + 1],
            side=(Text("above"), Text("below"))[side],
        )
        note = Text(
            "({m}, {n}): too {amount} weights lie {place}", m=input_dim, n=output_dim, amount=amount, place=place
        )
        limit = chi_square_range(len(right) - 1)[1]
        expected = Text("about {right} of {count} weights", right=f"{right[worst]:.0f}", count=weights.size)
        check(float(terms.sum()) <= limit, note, yours=int(counts[worst]), expected=expected)


@given(st.integers(0, 2**31), sizes(3, 6), sizes(2, 6))
def test_torch_seed_determines_result(student: Student, seed: int, input_dim: int, output_dim: int) -> None:
    """The same torch.manual_seed gives the same weights, consecutive calls differ, and no seed is set."""
    first = student.call(probes.weights, input_dim, output_dim, 2, seed)
    again = student.call(probes.weights, input_dim, output_dim, 2, seed)
    note = Text("the function sets the torch seed")
    assert_equal(first["seed"], seed, what="torch.initial_seed()", mistake=note)
    weights, note = (
        first["weights"],
        Text("the same torch.manual_seed gives different weights: draw them from torch's global generator"),
    )
    assert_equal(again["weights"], weights, what=Text("two weights"), mistake=note)
    check(
        not torch.equal(*weights),
        mistake=Text("two calls in a row return the same weight: is it constant, or is the seed set on every call?"),
        yours=weights,
    )
    require(all(bool(weight.isfinite().all()) for weight in weights), Text("a weight is not finite"), yours=weights)


def test_weights_are_drawn_independently(student: Student, seed: int) -> None:
    """Each weight is drawn independently, so that no row, column or element repeats another."""
    weight = draw_weight(student, 256, 256, seed).reshape(256, 256)
    check(weight.std() > 0, mistake=Text("all weights are equal"))
    scaled = weight / weight.std()
    sides = {Text("rows"): scaled, Text("columns"): scaled.T}
    for name, side in sides.items():
        check((side != side[0]).any(), mistake=Text("all {name} are equal: draw each weight independently", name=name))
    for name, side in sides.items():
        products = side @ side.T / side.shape[1] ** 0.5
        np.fill_diagonal(products, 0)
        alike = float(abs(products).max())
        note = Text(
            "two {name} are correlated: {alike} standard deviations from independence", name=name, alike=f"{alike:.1f}"
        )
        check(alike <= 2 * Z, note)
    note = Text("weights repeat each other, possibly with opposite sign")
    check(repeated_share(weight) < MANY, note, yours=Text("{count} of them", count=f"{repeated_share(weight):.0%}"))
