"""The comparison itself: what rounding may do passes, in any order of summing; nothing further off does."""

import math
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchkata.compare.assertions import ROUNDINGS, as_float64, assert_close, assert_equal, oracle_is_mistaken, same
from torchkata.compare.show import MAX_WIDTH, format_number, shorten, show
from torchkata.seam.failures import Wrong
from torchkata.seam.values import Plain

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
OTHERS: list[Plain] = [
    0,
    0.0,
    False,
    None,
    "0",
    [],
    {},
    torch.tensor(0),
    torch.tensor(0.0),
    torch.tensor(-0.0),
    torch.zeros(1),
]


@given(n=st.integers(0, 40), power=st.integers(-30, 30), seed=st.integers(0, 2**32), backwards=st.booleans())
def test_a_sum_in_any_order_is_close_to_the_exact_sum(n: int, power: int, seed: int, *, backwards: bool) -> None:
    x = torch.randn(n, generator=torch.Generator().manual_seed(seed)) * 2.0**power
    total = torch.zeros(())
    for term in x.flip(0) if backwards else x:
        total = total + term
    exact = as_float64(x)
    assert_close(total, exact.sum(), scale=np.abs(exact).sum(), roundings=ROUNDINGS + n)


@given(dtype=st.sampled_from(DTYPES), power=st.integers(4, 8), roundings=st.integers(1, 20), below=st.booleans())
def test_assert_close_allows_exactly_the_given_number_of_roundings(
    dtype: torch.dtype, power: int, roundings: int, *, below: bool
) -> None:
    exact, eps = 2.0**power, torch.finfo(dtype).eps
    for off, close in ((roundings, True), (roundings + 1, False)):
        yours = torch.tensor(exact * (1 - off * eps if below else 1 + off * eps), dtype=dtype)
        try:
            assert_close(yours, exact, dtype=dtype, scale=exact, roundings=roundings)
        except Wrong:
            assert not close
        else:
            assert close


@pytest.mark.parametrize("expected", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("scale", [0.0, 1.0, math.inf])
def test_no_finite_number_is_close_to_an_expected_inf_or_nan(expected: float, scale: float) -> None:
    for yours in (0.0, 1.0, -3e38, math.inf):
        with pytest.raises(Wrong):
            assert_close(torch.tensor(yours), expected, scale=scale)


@pytest.mark.parametrize("yours", [math.inf, -math.inf, math.nan])
def test_inf_and_nan_are_not_close_to_a_finite_number(yours: float) -> None:
    with pytest.raises(Wrong):
        assert_close(torch.tensor(yours), 1.0, scale=1.0)


@pytest.mark.parametrize("scale", [3.5e38, math.inf])
@pytest.mark.parametrize("yours", [14.58, math.inf, math.nan])
def test_anything_is_close_where_the_scale_is_beyond_the_dtype(yours: float, scale: float) -> None:
    """The terms of a right but diverging run overflow: no point is lost there."""
    assert_close(torch.tensor(yours), 14.581846, scale=scale)
    with pytest.raises(Wrong):
        assert_close(torch.tensor(yours, dtype=torch.float64), 14.581846, scale=scale)


def test_only_a_known_mistake_may_expect_what_is_not_finite() -> None:
    for value in (math.nan, math.inf):
        with pytest.raises(Wrong, match="NaN or infinite"):
            assert_close(torch.tensor(value), value, scale=1.0)
    before = oracle_is_mistaken.set(True)
    try:
        assert_close(torch.tensor(math.nan), math.nan, scale=1.0)
        with pytest.raises(Wrong) as refuted:
            assert_close(torch.tensor(2.0), 1.0, scale=1.0)
        assert refuted.value.expected == "", "words that nobody reads, a quarter of a millisecond each"
    finally:
        oracle_is_mistaken.reset(before)


def test_none_is_close_to_itself_alone() -> None:
    assert_close(None, None, scale=1.0)
    for yours, expected in ((None, 1.0), (torch.tensor(1.0), None), (1.0, 1.0)):
        with pytest.raises(Wrong):
            assert_close(yours, expected, scale=1.0)


@given(power=st.integers(4, 60), sign=st.sampled_from([-1, 1]))
def test_a_mistake_larger_than_the_scale_is_compared_at_its_own_size(power: int, sign: int) -> None:
    """It is rounded at its own size; what is right is still not close to it."""
    mistaken = sign * (1 / 3) * 2.0**power
    assert_close(torch.tensor(mistaken), mistaken, scale=1.0)
    with pytest.raises(Wrong):
        assert_close(torch.tensor(1.0), mistaken, scale=1.0)


@pytest.mark.parametrize("yours", [torch.ones(2), torch.ones(1, 1), torch.ones((), dtype=torch.float64), 1.0, None])
def test_a_wrong_shape_or_dtype_is_reported_before_wrong_numbers(yours: Plain) -> None:
    with pytest.raises(Wrong, match=r"shape|dtype|tensor|expected"):
        assert_close(yours, np.ones(()), scale=1.0)


@pytest.mark.parametrize("a", range(len(OTHERS)))
def test_every_plain_value_is_the_same_as_itself_alone(a: int) -> None:
    assert [i for i, other in enumerate(OTHERS) if same(OTHERS[a], other)] == [a]


def test_a_difference_in_a_nested_value_is_found() -> None:
    yours: Plain = {"a": [1, torch.tensor([1.0, math.nan])]}
    assert_equal(yours, {"a": [1, torch.tensor([1.0, math.nan])]})
    for other in ({"a": [1, torch.tensor([1.0, 2.0])]}, {"a": [1]}, {"b": yours["a"]}, [yours]):
        with pytest.raises(Wrong):
            assert_equal(yours, other)


def test_two_numbers_that_look_alike_are_shown_with_all_their_digits() -> None:
    with pytest.raises(Wrong) as wrong:
        assert_close(np.array([1.0 - 1e-9]), np.ones(1), scale=1.0, dtype=np.float64)
    assert wrong.value.expected == "array float64[1]  [1]"
    assert wrong.value.yours == "array float64[1]  [0.99999999900000003]"
    with pytest.raises(Wrong) as wrong:
        assert_close(np.array([0.5]), np.ones(1), scale=1.0, dtype=np.float64)
    assert wrong.value.yours == "array float64[1]  [0.5]"


def test_of_two_long_lists_the_first_difference_is_shown() -> None:
    numbers = list(range(20))
    for yours, told in (
        ([*numbers[:12], 0, *numbers[13:]], ("[12]: 12", "[12]: 0", "")),
        ([*numbers[:12], 12.0, *numbers[13:]], ("[12]: 12 (int)", "[12]: 12 (float)", "")),
        (numbers[:-1], (show(numbers), show(numbers), "expected length 20, got 19")),
    ):
        with pytest.raises(Wrong) as wrong:
            assert_equal(yours, numbers)
        assert (wrong.value.expected, wrong.value.yours, wrong.value.note) == told
    with pytest.raises(Wrong) as wrong:
        assert_equal([1], [2])
    assert wrong.value.note == ""


def whole(value: Plain, digits: int = 7) -> str:
    """Nested lists of numbers, the long ones cut in the middle, by looking at all of them."""
    if isinstance(value, list):
        items = [whole(item, digits) for item in (value if len(value) <= 8 else value[:6])]
        items += ["…", whole(value[-1], digits)] if len(value) > 8 else []
        return f"[{', '.join(items)}]"
    return format_number(value, digits)


@pytest.mark.parametrize("shape", [(), (3,), (8,), (9,), (2, 3), (20, 1, 9), (1,) * 8, (2,) * 8, (100, 100)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_a_tensor_is_shown_as_the_lists_of_its_numbers_would_be(shape: tuple[int, ...], dtype: str) -> None:
    values = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    text = whole(values.tolist())
    for prefix, value in (("array ", values), ("", torch.from_numpy(values))):
        form = f"{prefix}{dtype}[{', '.join(map(str, shape))}]  "
        assert show(value) == form + shorten(text, MAX_WIDTH - len(form))


def test_showing_a_large_value_looks_at_no_more_than_fits() -> None:
    deep: Plain = [0] * 8
    for _ in range(10):
        deep = [deep] * 8  # a thousand million numbers, if one were to look at all
    large = (np.zeros(2**22), np.zeros((2**20, 1, 1, 1, 1, 1, 1, 2)), torch.zeros(2, 2**21), deep)
    tracemalloc.start()
    for value in large:
        assert len(show(value)) < 300
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize(
    ("expected", "yours", "told"),
    [
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
def test_of_nested_values_as_much_is_shown_as_tells_them_apart(
    expected: Plain, yours: Plain, told: tuple[str, str, str]
) -> None:
    with pytest.raises(Wrong) as wrong:
        assert_equal(yours, expected)
    assert (wrong.value.expected, wrong.value.yours, wrong.value.note) == told


def test_of_a_long_result_the_first_wrong_number_is_told() -> None:
    yours = torch.zeros(4, 5)
    yours[2, 3] = 7
    with pytest.raises(Wrong) as wrong:
        assert_close(yours, np.zeros((4, 5)), scale=1.0)
    note = "1 of 20 elements differ by more than rounding (first at [2, 3]: expected 0, got 7)"
    assert wrong.value.note == note
