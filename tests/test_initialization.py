"""initialization: a normal start that is cut at three standard deviations."""

from itertools import pairwise

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.initialization import oracle
from tests.probes import initialization as probes
from tests.statistics import MANY, Z, chi_square_range, repeated
from tests.strategies import sizes
from torchkata import Student, as_float64, assert_equal, check, require

LARGE = [(512, 1024), (1, 2**19)]  # 2**19 weights each: the cut's 1.3 % show
EDGES = [0.0, 0.002, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.7, 2.8, 2.9, 2.95, 3.0]
RARE = 1e-9  # weights: where a known mistake has none, not one must be seen


def drawn(student: Student, input_dim: int, output_dim: int, seed: int) -> np.ndarray:
    """The elements of one new weight."""
    (weight,) = student.call(probes.weights, input_dim, output_dim, 1, seed)["weights"]
    form = f"float32[{input_dim}, {output_dim}]"
    right = isinstance(weight, torch.Tensor) and weight.dtype == torch.float32 and weight.ndim == 2
    require(right and weight.shape == (input_dim, output_dim), "the form is wrong", yours=weight, expected=form)
    return as_float64(weight).flatten()


@given(sizes(3, 40), sizes(2))
def test_it_is_a_parameter_of_that_shape(student: Student, input_dim: int, output_dim: int) -> None:
    """It is an nn.Parameter of shape (input_dim, output_dim), in torch's default dtype."""
    anatomy = student.call(probes.anatomy, input_dim, output_dim)
    check(
        anatomy["is an nn.Parameter"],
        mistake="the weight is no nn.Parameter: neither a module nor an optimizer would find it",
    )
    check(anatomy["requires grad"], mistake="the nn.Parameter does not require grad: it is frozen")
    note = "x @ weight takes (input_dim, output_dim); is it stored as (output_dim, input_dim), like that of nn.Linear?"
    assert_equal(anatomy["shape"], [input_dim, output_dim], what="shape", note=note)
    assert_equal(anatomy["dtype"], "torch.float32", what="dtype", mistake="the weight is not in torch's default dtype")


def test_no_weight_is_beyond_three_standard_deviations(student: Student, seed: int) -> None:
    """Every weight lies within 3 / sqrt(input_dim) of 0."""
    for input_dim, output_dim in LARGE:
        weights, start = drawn(student, input_dim, output_dim, seed), oracle.start(input_dim, output_dim)
        note = f"a weight of ({input_dim}, {output_dim}) is too far from 0"
        yours, expected = float(abs(weights).max()), f"at most {start.bound:.5g}"
        check(not start.is_too_far(weights), note, yours=yours, expected=expected)


def test_weights_reach_as_far_as_three_standard_deviations(student: Student, seed: int) -> None:
    """Nothing is cut off within three standard deviations: the largest weights come close to the bound."""
    for input_dim, output_dim in LARGE:
        weights, start = drawn(student, input_dim, output_dim, seed), oracle.start(input_dim, output_dim)
        note = f"the largest of {weights.size} weights of ({input_dim}, {output_dim}) is too small"
        yours, expected = float(abs(weights).max()), f"at least {start.reach:.5g}"
        check(not start.is_too_near(weights), note, yours=yours, expected=expected)


def test_the_spread_is_one_over_root_input_dim_before_the_cut(student: Student, seed: int) -> None:
    """Mean 0, and standard deviation 1 / sqrt(input_dim) before the cut: 0.9866 times that after it."""
    for input_dim, output_dim in LARGE:
        weights, start = drawn(student, input_dim, output_dim, seed), oracle.start(input_dim, output_dim)
        variance, n = start.variance, weights.size
        size = f"({input_dim}, {output_dim})"
        square = float((weights**2).mean())
        off = square / variance - 1
        yours, expected = f"root mean square {square**0.5:.6f}", f"about {variance**0.5:.6f}"
        note = f"{size}: the variance after the cut is off by {off:.1%}"
        check(abs(off) <= Z * (2 / n) ** 0.5, note, yours=yours, expected=expected)
        slack, note = Z * (variance / n) ** 0.5, f"{size}: the mean is off"
        expected = f"{start.mean:.4g}, within {slack:.2g}"
        check(abs(weights.mean() - start.mean) <= slack, note, yours=float(weights.mean()), expected=expected)


def test_the_shape_is_a_normal_that_is_cut(student: Student, seed: int) -> None:
    """On both sides of 0 the weights are a normal's within its cut: what is beyond is drawn again, not moved there."""
    for input_dim, output_dim in LARGE:
        weights, start = drawn(student, input_dim, output_dim, seed), oracle.start(input_dim, output_dim)
        z = weights / start.std
        z = z[abs(z) <= EDGES[-1] * (1 + 1e-6)].clip(-EDGES[-1], EDGES[-1])  # what is beyond is another test's
        above = np.where(z == 0, np.arange(z.size) % 2 == 0, z > 0)  # zeros are on both sides
        counts = np.concatenate([np.histogram(side, EDGES)[0] for side in (z[above], -z[~above])])
        both = weights.size * np.array([start.share(*pair) for pair in pairwise(EDGES)])
        right = np.concatenate([start.positive * both, (1 - start.positive) * both])
        terms = (counts - right) ** 2 / np.maximum(right, RARE)
        worst = int(np.argmax(terms))
        side, low = divmod(worst, len(both))
        amount = "many" if counts[worst] > right[worst] else "few"
        place = f"{EDGES[low]} to {EDGES[low + 1]} standard deviations {('above', 'below')[side]} 0"
        note = f"({input_dim}, {output_dim}): too {amount} weights are {place}"
        limit = chi_square_range(len(right) - 1)[1]
        expected = f"about {right[worst]:.0f} of {weights.size} weights"
        check(float(terms.sum()) <= limit, note, yours=int(counts[worst]), expected=expected)


@given(st.integers(0, 2**31), sizes(3, 6), sizes(2, 6))
def test_torch_seed_determines_result(student: Student, seed: int, input_dim: int, output_dim: int) -> None:
    """The same torch.manual_seed gives the same weights, two drawn in a row differ, and nothing is seeded."""
    first = student.call(probes.weights, input_dim, output_dim, 2, seed)
    again = student.call(probes.weights, input_dim, output_dim, 2, seed)
    note = "torch.manual_seed is called inside: torch's seed has changed"
    assert_equal(first["seed"], seed, what="torch.initial_seed()", mistake=note)
    weights, note = first["weights"], "the same torch.manual_seed gave others: these are not torch's global generator's"
    assert_equal(again["weights"], weights, what="two weights", mistake=note)
    check(
        not torch.equal(*weights),
        mistake="two weights drawn in a row are equal: nothing is drawn, or each call begins with the same seed",
        yours=weights,
    )
    require(all(bool(weight.isfinite().all()) for weight in weights), "a weight is not a finite number", yours=weights)


def test_every_weight_is_a_draw_of_its_own(student: Student, seed: int) -> None:
    """No row repeats another, no column another, no weight the rest: each is drawn by itself."""
    weight = drawn(student, 256, 256, seed).reshape(256, 256)
    check(weight.std() > 0, mistake="all weights are equal")
    scaled = weight / weight.std()
    sides = {"rows": scaled, "columns": scaled.T}
    for name, side in sides.items():
        check((side != side[0]).any(), mistake=f"all {name} are equal: one number is drawn, and used for all of them")
    for name, side in sides.items():
        products = side @ side.T / side.shape[1] ** 0.5
        np.fill_diagonal(products, 0)
        alike = float(abs(products).max())
        note = f"two {name} hang together, as copies do: {alike:.1f} standard deviations from independent ones"
        check(alike <= 2 * Z, note)
    note = "weights come again, perhaps with the other sign"
    check(repeated(weight) < MANY, note, yours=f"{repeated(weight):.0%} of them")
