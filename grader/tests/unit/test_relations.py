"""What holds in all answers is told; of answers that have nothing to do with what is expected, nothing is."""

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
from torchkata.seam.values import Plain

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
    "yours = expected, rounded to 1 decimals": lambda e: np.round(e, 1),
    "yours = expected, rounded to 3 decimals": lambda e: np.round(e, 3),
    "yours = abs(expected)": np.abs,
    "yours = max(expected, 0)": lambda e: np.maximum(e, 0),
    "yours = expected**2": np.square,
    "yours = 1 / expected": lambda e: 1 / e,
    "the numbers are right, but the shape is wrong": lambda e: e.reshape(-1),
    "yours = expected.sum(0)": lambda e: e.sum(0),
    "yours = expected.mean(-1)": lambda e: e.mean(-1),
    "yours = 1/8 * expected": lambda e: e / 8,
    "yours = -0.37 * expected": lambda e: -0.37 * e,
    "yours = 2/3 * expected": lambda e: 2 * e / 3,
    "yours = 1/1024 * expected": lambda e: e / 1024,
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


def relation(seen: Sequence[Comparison]) -> str:
    """What is told; a rule, but where it says of no number what it is."""
    holds = relations.find_relation(seen)
    assert holds.is_rule is (bool(holds.sentence) and not holds.sentence.startswith(LOOSE))
    return holds.sentence


def matrices(seed: int, count: int = 5) -> list[Array]:
    """Numbers of several shapes, of which no two are alike."""
    rng = np.random.default_rng(seed)
    return [3 * rng.normal(size=rng.integers(3, 7, 2)) for _ in range(count)]


def tensors(function: Function, expected: Sequence[Array]) -> list[Comparison]:
    """Comparisons of tensors, where yours is a function of what is expected."""
    floats = [e.astype(np.float32).astype(np.float64) for e in expected]
    return [Comparison(torch.tensor(function(e)).float(), torch.tensor(e).float()) for e in floats]


@pytest.mark.parametrize(("told", "function"), OF_NUMBERS.items())
@given(SEEDS)
def test_a_relation_of_tensors_is_told(told: str, function: Function, seed: int) -> None:
    assert relation(tensors(function, matrices(seed))) == told


@pytest.mark.parametrize("function", OF_NUMBERS.values())
@given(SEEDS)
def test_what_does_not_hold_in_all_comparisons_is_not_told(function: Function, seed: int) -> None:
    *most, last = matrices(seed)
    noise = np.random.default_rng(seed + 1).normal(size=last.shape)
    other = Comparison(torch.tensor(noise).float(), torch.tensor(last).float())
    assert relation([*tensors(function, most), other]) == ""


@pytest.mark.parametrize("function", OF_NUMBERS.values())
@given(st.floats(0.5, 50, width=32))
def test_one_number_tells_nothing(function: Function, number: float) -> None:
    assert relation(tensors(function, [np.full((1, 1), number)])) == ""


@given(SEEDS, st.sampled_from([1.0, 0.1, 1e-3, 1e-5]))
def test_noise_tells_nothing(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    assert relation(tensors(lambda e: e + size * rng.normal(size=e.shape), matrices(seed))) == ""
    assert relation([Comparison(int(a), int(b)) for a, b in rng.integers(2**20, 2**40, (30, 2))]) == ""


def test_reversed_shape_is_said_to_be_transposed() -> None:
    seen = [Comparison({"weight": [3, n]}, {"weight": [n, 3]}) for n in range(4, 8)]
    assert relations.find_relation(seen, of_shapes=True).sentence == (
        "weight: stored transposed (your shape is the expected shape reversed)"
    )
    assert relation(seen) == "weight: your result is reversed"


@given(SEEDS)
def test_right_answers_tell_nothing(seed: int) -> None:
    assert relation(tensors(lambda e: e, matrices(seed))) == ""


def test_one_type_of_all_answers_is_told_where_several_are_asked_for() -> None:
    asked = [torch.tensor([1.0, 2.0], dtype=dtype) for dtype in (torch.float64, torch.bfloat16, torch.float32)]
    seen = [Comparison(torch.tensor([3.0 + i, 7.0 * i]), expected) for i, expected in enumerate(asked)]
    assert relation(seen) == "all your results have the type float32, even where another type is expected"
    assert relation([Comparison(one.yours, asked[0]) for one in seen]) == ""


@pytest.mark.parametrize(("told", "function"), OF_WHOLE_NUMBERS.items())
@given(SEEDS)
def test_a_relation_of_whole_numbers_is_told(told: str, function: Callable[[int], float], seed: int) -> None:
    counts = [int(n) | 1 for n in np.random.default_rng(seed).integers(2**40, 2**52, 10)]
    counts[0] |= 2**31  # which an int32 does not hold
    assert relation([Comparison(function(count), count) for count in counts]) == told


@given(SEEDS)
def test_a_narrower_format_is_told(seed: int) -> None:
    expected = [torch.tensor(e).float() for e in matrices(seed)]
    for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
        seen = [Comparison(e.to(dtype).float(), e) for e in expected]
        assert relation(seen) == f"your result has only the precision of {name}"


SCALED: dict[str, Callable[[torch.Tensor], float]] = {
    "yours = expected / x.shape[0]": lambda x: 1 / x.shape[0],
    "yours = expected * x.shape[1]": lambda x: x.shape[1],
    "yours = expected / sqrt(x.shape[1])": lambda x: x.shape[1] ** -0.5,
    "yours = expected * x.numel()": lambda x: x.numel(),
}


@pytest.mark.parametrize(("told", "factor"), SCALED.items())
@given(SEEDS)
def test_a_factor_has_the_name_of_a_size(told: str, factor: Callable[[torch.Tensor], float], seed: int) -> None:
    shapes = [(2, 3), (5, 4), (3, 7)]
    seen = []
    for place, shape in enumerate(shapes):
        x = torch.zeros(shape)
        e = torch.tensor(np.random.default_rng([seed, place]).normal(size=5))
        seen.append(Comparison(e * factor(x), e, {"x": x}))
    assert relation(seen) == told


@given(SEEDS)
def test_an_input_that_comes_back_is_told(seed: int) -> None:
    seen = [Comparison(torch.tensor(x), torch.tensor(2.5 * x**3), {"x": torch.tensor(x)}) for x in matrices(seed)]
    assert relation(seen) == "your result is x, unchanged"


def test_keys_that_are_missing_or_too_many_are_told() -> None:
    right = {"weight": [2, 3]}
    assert relation([Comparison({}, right)]) == "missing: weight"
    assert relation([Comparison({**right, "bias": [3]}, right)]) == "unexpected: bias"
    assert relation([Comparison({"w": [2, 3]}, right)]) == "got w instead of weight"
    assert relation([Comparison({"w": [2, 3]}, right), Comparison({}, right)]) == "", "not in all"


def test_rows_that_should_be_equal_are_not_told_to_be() -> None:
    assert relation([Comparison([n % 5] * 3, [n] * 3) for n in range(9)]) == ""


def test_what_a_dict_holds_is_compared_at_the_key_that_differs() -> None:
    seen = [Comparison({"a": 1, "b": [n + 1, n]}, {"a": 1, "b": [n, n + 1]}) for n in range(4)]
    assert relation(seen) == "b: your result is reversed"


def test_items_of_a_list_are_compared_one_by_one() -> None:
    rows = [torch.tensor([n + 0.5, n * n]) for n in range(3)]
    assert relation([Comparison([-row for row in rows], rows)]) == "yours = -expected"


def test_one_answer_to_all_calls_is_told_once_there_are_many() -> None:
    seen = [Comparison(True, n % 2 == 0) for n in range(MIN_CALLS)]
    assert relation(seen) == f"all {MIN_CALLS} calls return the same result"
    assert relation(seen[1:]) == ""
    assert relation([Comparison(True, False)] * MIN_CALLS) == "", "nothing else was asked for"


def test_the_opposite_is_told_once_both_were_asked_for() -> None:
    seen = [Comparison(n % 2 == 1, n % 2 == 0) for n in range(MIN_CALLS)]
    assert relation(seen) == "True and False are swapped"
    assert relation(seen[1:]) == ""


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
def test_what_wrong_inputs_have_in_common_is_told(fact: str, inputs: list[Mapping[str, Plain]]) -> None:
    trials = [(given, not collect_facts(given).get(fact)) for given in inputs * MIN_CALLS]
    assert find_common_fact(trials) == f"wrong where {fact}, right everywhere else"
    assert find_common_fact(trials[: MIN_CALLS // 2]) == "", "too few"
    wrong = next(given for given, right in trials if not right)
    assert find_common_fact([*trials, (wrong, True)]) == "", "not in all"


def test_nothing_in_common_is_told_where_only_0_is_right() -> None:
    inputs: list[Mapping[str, Plain]] = [{"a": a, "b": 7} for a in (0, 1, 2, 3)]
    assert find_common_fact([(given, given["a"] == 0) for given in inputs * MIN_CALLS]) == ""


def test_the_first_part_that_is_wrong_is_told_where_it_is_the_same_each_time() -> None:
    parts = [["loss of step 1", "loss of step 2"]] * MIN_CALLS
    assert find_first_wrong(parts) == "first wrong result: loss of step 2 (loss of step 1 is still right)"
    assert find_first_wrong(parts[1:]) == "", "too few"
    assert find_first_wrong([*parts, ["loss of step 1"]]) == "", "not in all"
    assert find_first_wrong([["y", "y"]] * MIN_CALLS) == find_first_wrong([["", "y"]] * MIN_CALLS) == "", (
        "they have no names"
    )


@given(SEEDS)
def test_chance_has_nothing_in_common(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = [{"x": torch.zeros(*rng.integers(0, 4, 2)), "n": int(n)} for n in rng.integers(0, 9, 60)]
    assert (
        find_common_fact([(given, bool(right)) for given, right in zip(inputs, rng.integers(0, 2, 60), strict=True)])
        == ""
    )


@pytest.mark.parametrize(
    "value", [None, "text", True, {}, [], [[]], torch.zeros(0), 1j, math.nan, math.inf, 3, [1.5, 2], np.ones((2, 1))]
)
def test_values_of_any_kind_are_compared(value: Any) -> None:
    for other in (value, 1, 2.5, "other", [1, 2], {"a": 1}, torch.ones(2, 2), np.ones(3)):
        assert relation([Comparison(value, other), Comparison(other, value)]) == ""
