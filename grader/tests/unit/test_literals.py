"""Tests of calls written as Python code: literals, line length and assigned names."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from torchkata.compare.assertions import asking, check, precondition
from torchkata.compare.equality import same
from torchkata.compare.repro_code import FEW, break_line, find_names_read, literal, render_call
from torchkata.diagnosis.explain import explain
from torchkata.inside.probes import typed
from torchkata.inside.values import Opaque
from torchkata.seam.failures import Unmet, Wrong
from torchkata.seam.student import Call

DTYPES = [
    *(torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.uint8, torch.bool)
]
NAMES = {"torch": torch, "np": np}
SHAPES = st.lists(st.integers(0, 3), max_size=3).filter(lambda shape: math.prod(shape) <= FEW[0])


@typed("f(x, n)")
def plain_probe(assignment: Any, x: Tensor, n: int, unused: int) -> object:
    return assignment, x, n, unused


@typed(lambda n, literal: f"x = {literal(torch.ones(n) * 0.5)}\nf(x)")
def written_probe(assignment: Any, x: Tensor, n: int) -> object:
    return assignment, x, n


@given(st.sampled_from(DTYPES), SHAPES, st.integers(0, 2**32))
def test_tensor_literal_evaluates_to_the_tensor(dtype: torch.dtype, shape: list[int], seed: int) -> None:
    random = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 9
    constant = [torch.full(shape, number, dtype=torch.float64) for number in (0, 1, 1e20, -math.inf, math.nan)]
    for value in (random, *constant):
        assert same(eval(literal(value.to(dtype)), NAMES), value.to(dtype))


@given(st.recursive(st.integers() | st.floats() | st.text(max_size=9) | st.none(), st.lists, max_leaves=9))
def test_plain_literal_evaluates_to_the_value(value: Any) -> None:
    assert same(eval(literal(value)), value)


@given(st.sampled_from(["uint16", "int64", "float32", "float64"]), st.lists(st.integers(0, 99), max_size=9))
def test_array_literal_evaluates_to_the_array(dtype: str, items: list[int]) -> None:
    value = np.array(items, dtype=dtype)
    assert same(eval(literal(value), NAMES), value)
    counting = torch.arange(-1, len(items), dtype=torch.int32).reshape(1, -1)
    assert len(items) < 4 or literal(counting).startswith("torch.arange(")
    assert same(eval(literal(counting), NAMES), counting)


@pytest.mark.parametrize(("least", "values"), [(0, 2), (3, 4), (5, 1)])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "uint16", "int64", "float32", "float64"], ids=str)
def test_literal_of_large_tensor_generates_similar_values(dtype: torch.dtype | str, least: int, values: int) -> None:
    numbers = (torch.arange(FEW[0] + 1) % values + least).reshape(-1, 5)
    value = numbers.to(dtype) if isinstance(dtype, torch.dtype) else numbers.numpy().astype(dtype)
    made = eval(literal(value), NAMES)
    assert (made.shape, made.dtype) == (value.shape, value.dtype)
    if "float" not in str(dtype):
        assert set(made.flatten().tolist()) <= set(value.flatten().tolist())


@given(st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=6), min_size=1, max_size=6), st.integers(50, 90))
def test_long_line_is_wrapped_inside_brackets(rows: list[list[float]], width: int) -> None:
    lines = break_line(f"x = f({rows!r}, 'a, (b')", width)
    assert eval("\n".join(lines).removeprefix("x = "), {"f": lambda *given: given}) == (rows, "a, (b")
    assert all(len(line) <= width for line in lines)
    assert find_names_read("x = x + y\nz = x\nz") == {"x", "y"}


def test_failure_and_precondition_show_the_checked_call() -> None:
    with pytest.raises(Wrong) as wrong, asking("f(x, 3)"):
        check(False, "wrong")
    call = Call(plain_probe, [torch.tensor([0.5]), 2, 7])
    message = explain("t", "claim", wrong.value, call, "pytest").message
    assert "  input     x = torch.tensor([0.5]); f(x, 3)\n" in message
    with pytest.raises(Unmet) as unmet, precondition("already this is off"), asking("f(x, 3)"):
        check(False, "wrong", yours=1.0, expected="2")
    assert (unmet.value.note, unmet.value.yours, unmet.value.asked) == ("already this is off", "1", "f(x, 3)")


@pytest.mark.parametrize(
    ("probe", "args", "lines"),
    [
        (plain_probe, [torch.tensor([0.5]), 2, 7], ["x = torch.tensor([0.5]); n = 2; f(x, n)"]),
        (written_probe, [torch.zeros(1), 2], ["x = torch.tensor([0.5, 0.5]); f(x)"]),
        (written_probe, [torch.zeros(1), Opaque("meta")], ["x = torch.tensor([0.0]); n = (meta)"]),
        (
            plain_probe,
            [torch.randn(40, 3), 2, 0],
            [
                "x = torch.randn(40, 3); n = 2; f(x, n)",
                "# random stand-ins for the test's own data, which is too large to show",
            ],
        ),
        (
            plain_probe,
            [{"w": torch.full((10, 10), 512.0)}, 2, 0],
            [
                "x = {'w': 500 * torch.randn(10, 10)}; n = 2; f(x, n)",
                "# random stand-ins for the test's own data, which is too large to show",
            ],
        ),
    ],
    ids=["used names", "written for the arguments", "no code", "other values", "as large in a dict"],
)
def test_call_is_formatted_as_code(probe: Any, args: list[Any], lines: list[str]) -> None:
    assert render_call(Call(probe, args)) == lines
