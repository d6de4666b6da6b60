"""Tests of relations between results and expected values, which are reported only if they cannot hold by chance."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array

from torchkata.diagnosis import relations
from torchkata.diagnosis.facts import collect_facts, find_common_fact
from torchkata.diagnosis.relations import MIN_CALLS, Comparison, find_first_wrong
from torchkata.inside.values import Plain

SEEDS = st.integers(0, 2**32 - 1)
Function = Callable[[Array], Array]

OF_NUMBERS: dict[str, Function] = {
    "your result is 0 everywhere": np.zeros_like,
    "all numbers of your result are equal": lambda e: np.full_like(e, e.flat[0]),
    "all rows of your result are equal": lambda e: np.broadcast_to(e[:1], e.shape).copy(),
    "yours = -expected": np.negative,
    "your result is transposed: expected.swapaxes(0, 1)": np.transpose,
    "your result is reversed": lambda e: e[::-1].copy(),
    "each row of your result is reversed": lambda e: e[:, ::-1].copy(),
    "your result is shifted: item i is the expected item i - 1": lambda e: np.roll(e, 1, axis=0),
    "your result is shifted: item i is the expected item i + 1": lambda e: np.concatenate([e[1:], e[:1] + 9]),
    "yours = expected, rounded to integers": np.round,
    "yours = expected, truncated to integers": np.trunc,
    "yours = floor(expected): is // used instead of /?": np.floor,
    "every item equals the last expected item: does the list contain the same tensor several times?": lambda e: (
        np.full_like(e, e[-1, -1])
    ),
    "yours = expected, rounded to multiples of 0.1": lambda e: np.round(e, 1),
    "yours = abs(expected)": np.abs,
    "yours = max(expected, 0)": lambda e: np.maximum(e, 0),
    "yours = expected**2": np.square,
    "yours = 1 / expected": lambda e: 1 / e,
    "the numbers are right, but the shape is wrong": lambda e: e.reshape(-1),
    "yours = expected.sum(0)": lambda e: e.sum(0),
    "yours = expected.mean(-1)": lambda e: e.mean(-1),
    "yours = -0.37 * expected": lambda e: -0.37 * e,
    "yours = 2/3 * expected": lambda e: 2 * e / 3,
    "yours = expected + 1": lambda e: e + 1,
    "yours = expected - 2.5": lambda e: e - 2.5,
    "yours = expected, clamped to [-2, 2]": lambda e: e.clip(-2, 2),
    "the numbers are right, but the order is wrong": lambda e: np.random.default_rng(0).permuted(e),
}
OF_WHOLE_NUMBERS: dict[str, Callable[[int], float]] = {
    "yours = expected % 2**32": lambda e: e % 2**32,
    "yours = expected % 2**16": lambda e: e % 2**16,
    "yours = expected, wrapped around by int32 overflow": lambda e: (e + 2**31) % 2**32 - 2**31,
    "yours = expected + 1": lambda e: e + 1,
    "yours = 2 * expected": lambda e: 2 * e,
    "your result has only the precision of float32": lambda e: int(np.float32(e)),
    "the numbers are right, but their type is float": float,
}


LOOSE = (
    *("the numbers are right, but the shape", "the numbers are right, but the order"),
    *("yours = -0.37", "yours = expected - 2.5", "yours = expected, clamped"),
)


def find_sentence(seen: Sequence[Comparison]) -> str:
    """Return the sentence of the relation. Assert that `is_rule` is set unless the sentence is empty or in `LOOSE`."""
    holds = relations.find_relation(seen)
    assert holds.is_rule is (bool(holds.sentence) and not holds.sentence.startswith(LOOSE))
    return holds.sentence


def make_matrices(seed: int, count: int = 5) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [3 * rng.normal(size=rng.integers(3, 7, 2)) for _ in range(count)]


def compare_tensors(function: Function, expected: Sequence[Array]) -> list[Comparison]:
    """Return comparisons of tensors in which the result is a function of the expected value."""
    floats = [e.astype(np.float32).astype(np.float64) for e in expected]
    return [Comparison(torch.tensor(function(e)).float(), torch.tensor(e).float()) for e in floats]


@pytest.mark.parametrize(("told", "function"), OF_NUMBERS.items())
@given(SEEDS, st.floats(0.5, 50, width=32))
def test_relation_must_hold_in_all_comparisons(told: str, function: Function, seed: int, number: float) -> None:
    *most, last = make_matrices(seed)
    seen = compare_tensors(function, most)
    assert find_sentence([*seen, *compare_tensors(function, [last])]) == told
    noise = np.random.default_rng(seed + 1).normal(size=last.shape)
    assert find_sentence([*seen, Comparison(torch.tensor(noise).float(), torch.tensor(last).float())]) == ""
    assert find_sentence(compare_tensors(function, [np.full((1, 1), number)])) == "", "single numbers have no relation"


@given(SEEDS, st.sampled_from([1.0, 0.1, 1e-3, 1e-5]))
def test_correct_or_noisy_results_have_no_relation(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    assert find_sentence(compare_tensors(lambda e: e + size * rng.normal(size=e.shape), make_matrices(seed))) == ""
    assert find_sentence([Comparison(int(a), int(b)) for a, b in rng.integers(2**20, 2**40, (30, 2))]) == ""
    assert find_sentence(compare_tensors(lambda e: e, make_matrices(seed))) == ""
    assert find_sentence(compare_tensors(lambda e: np.full_like(e, np.nan), make_matrices(seed))) == ""


def test_reversed_shape_is_reported_as_transposed() -> None:
    seen = [Comparison({"weight": [3, n]}, {"weight": [n, 3]}) for n in range(4, 8)]
    assert relations.find_relation(seen, "shape").sentence == (
        "weight: stored transposed, as nn.Linear stores its weight (your shape is the expected shape reversed)"
    )
    assert find_sentence(seen) == "weight: your result is reversed"
    seen = [Comparison({"shape": [3, n]}, {"shape": [n, 3]}) for n in range(4, 8)]
    assert find_sentence(seen).startswith("shape: stored transposed")


def test_constant_dtype_of_results_is_found() -> None:
    asked = [torch.tensor([1.0, 2.0], dtype=dtype) for dtype in (torch.float64, torch.bfloat16, torch.float32)]
    seen = [Comparison(torch.tensor([3.0 + i, 7.0 * i]), expected) for i, expected in enumerate(asked)]
    assert find_sentence(seen) == "all results in this test have the type float32, even where another type is expected"
    assert find_sentence([Comparison(one.yours, asked[0]) for one in seen]) == ""


@pytest.mark.parametrize("told", ["yours = 2/3 * expected", "yours = -0.37 * expected", "yours = expected + 0.01"])
@given(SEEDS)
def test_constant_is_found_in_mixed_precisions(told: str, seed: int) -> None:
    seen = []
    for place, matrix in enumerate(make_matrices(seed)):
        expected = torch.tensor(matrix).to((torch.bfloat16, torch.float32, torch.float64)[place % 3])
        seen.append(Comparison(eval(told.removeprefix("yours = "), {"expected": expected}), expected))
    assert relations.find_relation(seen).sentence == told


@pytest.mark.parametrize(("told", "function"), OF_WHOLE_NUMBERS.items())
@given(SEEDS)
def test_relation_between_integers_is_found(told: str, function: Callable[[int], float], seed: int) -> None:
    counts = [int(n) | 1 for n in np.random.default_rng(seed).integers(2**40, 2**52, 10)]
    counts[0] |= 2**31  # does not fit into an int32
    assert find_sentence([Comparison(function(count), count) for count in counts]) == told


@given(SEEDS)
def test_lower_precision_and_unchanged_input_are_detected(seed: int) -> None:
    expected = [torch.tensor(e).float() for e in make_matrices(seed)]
    for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
        seen = [Comparison(e.to(dtype).float(), e) for e in expected]
        assert find_sentence(seen) == f"your result has only the precision of {name}"
    seen = [Comparison(torch.tensor(x), torch.tensor(2.5 * x**3), {"x": torch.tensor(x)}) for x in make_matrices(seed)]
    assert find_sentence(seen) == "your result is x, unchanged"


SCALED: dict[str, Callable[[torch.Tensor], float]] = {
    "yours = expected / x.shape[0]": lambda x: 1 / x.shape[0],
    "yours = expected * x.shape[1]": lambda x: x.shape[1],
    "yours = expected / sqrt(x.shape[1])": lambda x: x.shape[1] ** -0.5,
    "yours = expected * x.numel()": lambda x: x.numel(),
}


@pytest.mark.parametrize(("told", "factor"), SCALED.items())
@given(SEEDS)
def test_factor_is_expressed_in_terms_of_input_sizes(
    told: str, factor: Callable[[torch.Tensor], float], seed: int
) -> None:
    seen = []
    for place, shape in enumerate([(2, 3), (5, 4), (3, 7)]):
        x = torch.zeros(shape)
        e = torch.tensor(np.random.default_rng([seed, place]).normal(size=5))
        seen.append(Comparison(e * factor(x), e, {"x": x}))
    assert find_sentence(seen) == told


RIGHT = {"weight": [2, 3]}
SAME = [Comparison(True, n % 2 == 0) for n in range(MIN_CALLS)]
SWAPPED = [Comparison(n % 2 == 1, n % 2 == 0) for n in range(MIN_CALLS)]
ROWS = [torch.tensor([n + 0.5, n * n]) for n in range(3)]


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        ([Comparison({}, RIGHT)], "missing: weight"),
        ([Comparison({**RIGHT, "bias": [3]}, RIGHT)], "unexpected: bias"),
        ([Comparison({"w": [2, 3]}, RIGHT)], "there is no `weight`; the parameter is called `w`"),
        ([Comparison({"x.w": [3, 2]}, RIGHT)], "there is no `weight`; the parameter is called `x.w`"),
        ([Comparison({"bias": [3]}, RIGHT)], "got bias instead of weight"),
        ([Comparison({"w": [2, 3]}, RIGHT), Comparison({}, RIGHT)], ""),
        (
            [Comparison({"a.0.w": [1], "b.w": [2]}, {"layers.0.w": [1], "final.w": [2]}), Comparison(RIGHT, RIGHT)],
            "there is no `layers`; the list is called `a`; there is no `final`; the module is called `b`",
        ),
        ([Comparison([n % 5] * 3, [n] * 3) for n in range(9)], ""),  # equal rows are expected
        (
            [Comparison({"a": 1, "b": [n + 1, n]}, {"a": 1, "b": [n, n + 1]}) for n in range(4)],
            "b: your result is reversed",
        ),
        ([Comparison([-row for row in ROWS], ROWS)], "yours = -expected"),
        (SAME, f"all {MIN_CALLS} calls return the same result"),
        (SAME[1:], ""),
        ([Comparison(True, False)] * MIN_CALLS, ""),
        (SWAPPED, "True and False are swapped"),
        (SWAPPED[1:], ""),
    ],
)
def test_relation_between_dicts_lists_and_booleans_is_found(seen: list[Comparison], sentence: str) -> None:
    assert find_sentence(seen) == sentence


@pytest.mark.parametrize(
    ("fact", "inputs"),
    {
        "x.ndim == 1": [{"x": torch.zeros([2] * ndim)} for ndim in range(1, 4)],
        "x.dtype == torch.float64": [{"x": torch.zeros(2, dtype=d)} for d in (torch.float64, torch.float32)],
        "a % b > 0": [{"a": a, "b": 3} for a in (4, 5, 7, 0, 6, 9)],
        "a > b": [{"a": a, "b": b} for a in range(5) for b in range(5)],
        "not bias": [{"bias": False}, {"bias": True}],
    }.items(),
)
def test_pattern_in_failing_inputs_is_found(fact: str, inputs: list[Mapping[str, Plain]]) -> None:
    trials = [(given, not collect_facts(given).get(fact)) for given in inputs * MIN_CALLS]
    right = sum(is_right for _, is_right in trials)
    sentence = f"wrong in all {len(trials) - right} cases where {fact}, right in the {right} others"
    assert find_common_fact(trials) == sentence
    assert find_common_fact(trials[: MIN_CALLS // 2]) == "", "too few"
    wrong = next(given for given, right in trials if not right)
    assert find_common_fact([*trials, (wrong, True)]) == "", "not in all"


@pytest.mark.parametrize(
    ("right", "fact"), [("ad", "dtype in ('b', 'c')"), ("a", "dtype != 'a'"), ("bcd", "dtype == 'a'")]
)
def test_names_that_separate_failing_inputs_are_found(right: str, fact: str) -> None:
    trials = [({"dtype": name, "sizes": [n]}, name in right or not n) for name in "abcd" for n in range(9)]
    counts = 8 * (4 - len(right)), 8 * len(right)  # without the empty lists
    assert find_common_fact(trials) == f"wrong in all {counts[0]} cases where {fact}, right in the {counts[1]} others"
    assert find_common_fact([*trials, ({"dtype": "a", "sizes": [1]}, "a" not in right)]) == "", "not in all"
    unique = [({"name": str(n)}, n % 3 > 0) for n in range(60)]
    assert find_common_fact(unique) == "", "each name occurs once"


def test_first_part_that_is_always_wrong_is_reported() -> None:
    parts = [["loss of step 1", "loss of step 2"]] * MIN_CALLS
    assert find_first_wrong(parts) == "first wrong result: loss of step 2 (loss of step 1 is still right)"
    assert find_first_wrong(parts[1:]) == "", "too few"
    others = [*parts, ["loss of step 0", "loss of step 2"]]
    assert find_first_wrong(others) == "first wrong result: loss of step 2", "after different ones"
    assert find_first_wrong([*parts, ["loss", "loss of step 2"]]) == "", "after something else"
    assert find_first_wrong([*parts, ["loss of step 1"]]) == "", "not in all"
    for unnamed in (["y", "y"], ["", "y"]):
        assert find_first_wrong([unnamed] * MIN_CALLS) == ""
    assert find_first_wrong([["scales", "values", "scales"]] * MIN_CALLS) == "", "the values of another call are right"


@given(SEEDS)
def test_no_pattern_is_found_in_random_failures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = [{"x": torch.zeros(*rng.integers(0, 4, 2)), "n": int(n)} for n in rng.integers(0, 9, 60)]
    trials = [(given, bool(right)) for given, right in zip(inputs, rng.integers(0, 2, 60), strict=True)]
    assert find_common_fact(trials) == ""
    zero: list[Mapping[str, Plain]] = [{"a": a, "b": 7} for a in (0, 1, 2, 3)]
    assert find_common_fact([(given, given["a"] == 0) for given in zero * MIN_CALLS]) == "", "only 0 is right"


@pytest.mark.parametrize(
    "value", [None, "text", True, {}, [], [[]], torch.zeros(0), 1j, math.nan, math.inf, 3, [1.5, 2], np.ones((2, 1))]
)
def test_unrelated_values_of_any_type_have_no_relation(value: Any) -> None:
    for other in (value, 1, 2.5, "other", [1, 2], {"a": 1}, torch.ones(2, 2), np.ones(3)):
        assert find_sentence([Comparison(value, other), Comparison(other, value)]) == ""
