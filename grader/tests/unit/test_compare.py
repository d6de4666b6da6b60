"""Tests of comparing with the expected value: the tolerance allows rounding in any summation order, but no more."""

import itertools
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchkata.compare.assertions import ROUNDINGS, as_float64, assert_close, assert_equal, oracle_is_mistaken
from torchkata.compare.equality import same
from torchkata.compare.numbers import assert_count
from torchkata.compare.show import show
from torchkata.course import course
from torchkata.inside.values import Plain
from torchkata.seam.failures import Wrong

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
OTHERS: list[Plain] = [0, 0.0, False, None, "0", [], {}, *(torch.tensor(zero) for zero in (0, 0.0, -0.0, [0.0]))]


@given(n=st.integers(0, 40), power=st.integers(-30, 30), seed=st.integers(0, 2**32), backwards=st.booleans())
def test_sum_in_any_order_is_close(n: int, power: int, seed: int, *, backwards: bool) -> None:
    x = torch.randn(n, generator=torch.Generator().manual_seed(seed)) * 2.0**power
    total = torch.zeros(())
    for term in x.flip(0) if backwards else x:
        total = total + term
    exact = as_float64(x)
    assert_close(total, exact.sum(), scale=np.abs(exact).sum(), roundings=ROUNDINGS + n)


@given(dtype=st.sampled_from(DTYPES), power=st.integers(4, 8), roundings=st.integers(1, 20), below=st.booleans())
def test_number_of_roundings_limits_tolerated_difference(
    dtype: torch.dtype, power: int, roundings: int, *, below: bool
) -> None:
    exact, eps = 2.0**power, torch.finfo(dtype).eps
    near, far = (
        torch.tensor(exact * (1 - off * eps if below else 1 + off * eps), dtype=dtype)
        for off in (roundings, roundings + 1)
    )
    assert_close(near, exact, dtype=dtype, scale=exact, roundings=roundings)
    with pytest.raises(Wrong):
        assert_close(far, exact, dtype=dtype, scale=exact, roundings=roundings)


@pytest.mark.parametrize(
    ("yours", "expected", "scale"),
    [
        *itertools.product((0.0, 1.0, -3e38, math.inf), (math.inf, -math.inf, math.nan), (0.0, 1.0, math.inf)),
        *itertools.product((math.inf, -math.inf, math.nan), (1.0,), (1.0,)),
    ],
)
def test_inf_and_nan_are_never_close(yours: float, expected: float, scale: float) -> None:
    with pytest.raises(Wrong):
        assert_close(torch.tensor(yours), expected, scale=scale)


@pytest.mark.parametrize("scale", [3.5e38, math.inf])
@pytest.mark.parametrize("yours", [14.58, math.inf, math.nan])
def test_anything_is_close_if_scale_overflows_dtype(yours: float, scale: float) -> None:
    """A correct run that diverges may overflow and must not lose points."""
    assert_close(torch.tensor(yours), 14.581846, scale=scale)
    with pytest.raises(Wrong):
        assert_close(torch.tensor(yours, dtype=torch.float64), 14.581846, scale=scale)


def test_expected_nan_is_allowed_only_for_known_mistakes() -> None:
    for value in (math.nan, math.inf):
        with pytest.raises(Wrong, match="NaN or infinite"):
            assert_close(torch.tensor(value), value, scale=1.0)
    before = oracle_is_mistaken.set(True)
    try:
        assert_close(torch.tensor(math.nan), math.nan, scale=1.0)
        with pytest.raises(Wrong) as refuted:
            assert_close(torch.tensor(2.0), 1.0, scale=1.0)
        assert refuted.value.expected == "", "values must not be formatted for an unused message"
    finally:
        oracle_is_mistaken.reset(before)


@given(power=st.integers(4, 60), sign=st.sampled_from([-1, 1]))
def test_values_above_scale_use_relative_tolerance(power: int, sign: int) -> None:
    mistaken = sign * (1 / 3) * 2.0**power
    assert_close(torch.tensor(mistaken), mistaken, scale=1.0)
    with pytest.raises(Wrong):
        assert_close(torch.tensor(1.0), mistaken, scale=1.0)


@pytest.mark.parametrize("yours", [torch.ones(2), torch.ones(1, 1), torch.ones((), dtype=torch.float64), 1.0, None])
def test_wrong_type_shape_or_dtype_is_reported(yours: Plain) -> None:
    with pytest.raises(Wrong, match=r"shape|dtype|tensor|expected"):
        assert_close(yours, np.ones(()), scale=1.0)


def test_none_is_close_only_to_none() -> None:
    assert_close(None, None, scale=1.0)
    with pytest.raises(Wrong):
        assert_close(torch.tensor(1.0), None, scale=1.0)


@pytest.mark.parametrize(
    ("yours", "expected", "shown"),
    [
        ([1.599999, 1.09999, 2.599999], [1.6, 1.09995, 2.6], ("[1.6, 1.09995, 2.6]", "[1.6, 1.09999, 2.6]")),
        ([1.599999, 1.600010, 2.0], [1.6, 1.600012, 2.0], ("[1.6, 1.600012, 2]", "[1.599999, 1.60001, 2]")),
        ([1.0, 2.5, 3.0], [1.0, 2.0, 3.0], ("[1, 2, 3]", "[1, 2.5, 3]")),
    ],
)
def test_only_counted_elements_look_different(
    yours: list[float], expected: list[float], shown: tuple[str, str]
) -> None:
    with pytest.raises(Wrong) as raised:
        assert_close(torch.tensor(yours), np.array(expected), scale=np.array([1e2, 1e-2, 1e2]))
    assert (raised.value.expected, raised.value.yours) == tuple(f"float32[3]  {numbers}" for numbers in shown)


@pytest.mark.parametrize(
    ("yours", "expected", "note"),
    [
        (0.1 + 0.2, 0.3, None),
        (1, 1.0, None),
        ([0.1 + 0.2, 1], [0.3, 1.0], None),
        ([[1e12 + 1.0]], [[1e12]], None),
        ([], [], None),
        (0.3 + 1e-8, 0.3, ""),
        ([1.0, 2.0], [1.0, 2.1], "1 of 2 elements differ by more than the tolerance (first at [1])"),
        ([1.0], [1.0, 2.0], "expected shape [2], got [1]"),
        ([[1.0], [1.0, 2.0]], [[1.0, 0.0], [1.0, 2.0]], "expected a list of numbers with the shape [2, 2]"),
        (np.ones(1), [1.0], "expected a list of numbers with the shape [1]"),
        *((other, 1.0, "expected a number") for other in (True, "1", None, torch.ones(()), np.ones(()))),
        (math.nan, 1.0, "NaN in 1 of 1 elements, as after 0 / 0, inf - inf or the root of a negative number"),
    ],
)
def test_numbers_and_lists_are_close(yours: Plain, expected: Plain, note: str | None) -> None:
    if note is None:
        assert_close(yours, expected, dtype=float)
        return
    with pytest.raises(Wrong) as wrong:
        assert_close(yours, expected, dtype=float)
    assert wrong.value.note == note
    assert not wrong.value.expected.startswith("array"), "lists are shown as lists"


def test_kind_of_expected_value_is_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_close([1.0, 2.0], [1.0, 2.0])
    for yours, exact in ((1.0, 1.0), (np.ones(1), np.ones(1))):
        with pytest.raises(TypeError, match="needs a scale"):
            assert_close(yours, exact)
    monkeypatch.setitem(vars(course()), "preload", ())
    assert_close(1.0, np.float64(1.0))
    with pytest.raises(Wrong):
        assert_close(1.0, np.ones(1), scale=1.0)


@pytest.mark.parametrize("a", range(len(OTHERS)))
def test_plain_value_equals_only_itself(a: int) -> None:
    assert [i for i, other in enumerate(OTHERS) if same(OTHERS[a], other)] == [a]


def test_difference_in_nested_values_is_found() -> None:
    yours: Plain = {"a": [1, torch.tensor([1.0, math.nan])]}
    assert_equal(yours, {"a": [1, torch.tensor([1.0, math.nan])]})
    for other in ({"a": [1, torch.tensor([1.0, 2.0])]}, {"a": [1]}, {"b": yours["a"]}, [yours]):
        with pytest.raises(Wrong):
            assert_equal(yours, other)


def test_close_numbers_are_shown_with_all_digits() -> None:
    with pytest.raises(Wrong) as wrong:
        assert_close(np.array([1.0 - 1e-9]), np.ones(1), scale=1.0, dtype=np.float64)
    assert wrong.value.expected == "array float64[1]  [1]"
    assert wrong.value.yours == "array float64[1]  [0.99999999900000003]"
    with pytest.raises(Wrong) as wrong:
        assert_close(np.array([0.5]), np.ones(1), scale=1.0, dtype=np.float64)
    assert wrong.value.yours == "array float64[1]  [0.5]"


@given(
    length=st.integers(1, 30),
    place=st.integers(0, 29),
    dtype=st.sampled_from(["float32", "float64", "int64", "uint16", "bool"]),
    kind=st.sampled_from(["array", "tensor", "list", "pair", "dict"]),
)
def test_failure_shows_what_differs(length: int, place: int, dtype: str, kind: str) -> None:
    sides = [np.zeros((length, 2)).astype(dtype) for _ in range(2)]
    sides[1][place % length, 1] = 1
    shapes: dict[str, Any] = {"array": lambda x: x, "list": lambda x: x.tolist(), "tensor": torch.from_numpy}
    shapes |= {"pair": lambda x: [x, torch.from_numpy(x)], "dict": lambda x: {"a": 1, "b": x}}
    with pytest.raises(Wrong) as wrong:
        assert_equal(shapes[kind](sides[1]), shapes[kind](sides[0]), what="x", note="a note of the test's own")
    assert wrong.value.expected != wrong.value.yours
    if "float" in dtype and kind == "array":
        with pytest.raises(Wrong) as wrong:
            assert_close(sides[1], sides[0], dtype=sides[0].dtype, scale=1.0)
        assert wrong.value.expected != wrong.value.yours


def test_hidden_zero_of_other_sign_is_shown() -> None:
    zeros, other = torch.zeros(20), torch.zeros(20)
    other[17] = -0.0
    with pytest.raises(Wrong) as wrong:
        assert_equal(other, zeros, what="x")
    assert (wrong.value.expected, wrong.value.yours) == ("x[17]: 0", "x[17]: -0")


@pytest.mark.parametrize(
    ("shape", "dtype", "numbers"),
    [
        ((), "float32", "0"),
        ((3,), "bool", "[False, True, True]"),
        ((8,), "int64", "[0, 1, 2, 3, 4, 5, 6, 7]"),
        ((9,), "float32", "[0, 1, 2, 3, 4, 5, …, 8]"),
        ((2, 3), "complex64", "[[0j, (1+0j), (2+0j)], [(3+0j), (4+0j), (5+0j)]]"),
        ((9, 1, 1), "int64", "[[[0]], [[1]], [[2]], [[3]], [[4]], [[5]], …, [[8]]]"),
        ((1,) * 8, "int64", "[[[[[[[[0]]]]]]]]"),
    ],
)
def test_tensor_is_shown_as_nested_lists(shape: tuple[int, ...], dtype: str, numbers: str) -> None:
    values = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    for prefix, value in (("array ", values), ("", torch.from_numpy(values))):
        assert show(value) == f"{prefix}{dtype}[{', '.join(map(str, shape))}]  {numbers}"


def test_formatting_large_value_uses_little_memory() -> None:
    deep: Plain = [0] * 8
    for _ in range(10):
        deep = [deep] * 8  # a billion elements
    large = (np.zeros(2**22), np.zeros((2**20, 1, 1, 1, 1, 1, 1, 2)), torch.zeros(2, 2**21), deep)
    tracemalloc.start()
    for value in large:
        assert len(show(value)) < 300
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


NUMBERS: list[Plain] = [*range(20)]


@pytest.mark.parametrize(
    ("expected", "yours", "shown"),
    [
        ([1], [2], ("[1]", "[2]", "")),
        (NUMBERS, [*NUMBERS[:12], 0, *NUMBERS[13:]], ("[12]: 12", "[12]: 0", "")),
        (NUMBERS, [*NUMBERS[:12], 12.0, *NUMBERS[13:]], ("[12]: 12 (int)", "[12]: 12 (float)", "")),
        (NUMBERS, NUMBERS[:-1], (show(NUMBERS), show(NUMBERS[:-1]), "expected length 20, got 19")),
        ({"a": 1}, {"a": 2}, ("{'a': 1}", "{'a': 2}", "")),
        (
            {f"key {i}": i for i in range(20)},
            {f"key {i}": i + (i == 17) for i in range(20)},
            ("['key 17']: 17", "['key 17']: 18", ""),
        ),
        (
            [[torch.zeros(20)], [torch.ones(20)]],
            [[torch.zeros(20)], [torch.zeros(20)]],
            ("[1][0]: float32[20]  [1, 1, 1, 1, 1, 1, …, 1]", "[1][0]: float32[20]  [0, 0, 0, 0, 0, 0, …, 0]", ""),
        ),
    ],
)
def test_first_difference_is_shown(expected: Plain, yours: Plain, shown: tuple[str, str, str]) -> None:
    with pytest.raises(Wrong) as wrong:
        assert_equal(yours, expected)
    assert (wrong.value.expected, wrong.value.yours, wrong.value.note) == shown


@pytest.mark.parametrize(
    ("number", "exact", "shown"), [(7.0, 0.0, "expected 0, got 7"), (1 + 2**-30, 1.0, "expected 1, got 1.000000000931")]
)
def test_position_of_first_wrong_element_is_reported(number: float, exact: float, shown: str) -> None:
    yours = torch.full((4, 5), exact, dtype=torch.float64)
    yours[2, 3] = number
    with pytest.raises(Wrong) as wrong:
        assert_close(yours, np.full((4, 5), exact), dtype=torch.float64, scale=1.0)
    assert wrong.value.note.startswith("1 of 20 elements differ")
    assert f"first at [2, 3]: {shown}" in wrong.value.note


@pytest.mark.parametrize("power", [50, 54, 60])
def test_count_computed_with_floats_is_named(power: int) -> None:
    exact = 3**power
    for yours, named in ((int(float(exact)), True), (exact - 3 ** (power - 3), False), (exact + 2, False)):
        with pytest.raises(Wrong) as raised:
            assert_count(yours, exact)
        assert ("as if a float had been used" in raised.value.note) is named
