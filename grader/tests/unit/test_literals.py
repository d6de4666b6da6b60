"""A call as Python that a student could type: values, lines of limited length, what is assigned."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from torchkata.compare.assertions import asking, check, precondition, same
from torchkata.compare.repro_code import FEW, break_line, find_names_read, literal, render_call
from torchkata.diagnosis.explain import explain
from torchkata.i18n import words
from torchkata.seam.failures import Unmet, Wrong
from torchkata.seam.probes import typed
from torchkata.seam.student import Call
from torchkata.seam.values import Opaque

DTYPES = [
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
]
NAMES = {"torch": torch, "np": np}
SHAPES = st.lists(st.integers(0, 3), max_size=3).filter(lambda shape: math.prod(shape) <= FEW[0])


@typed("f(x, n)")
def plain_probe(assignment: Any, x: Tensor, n: int, unused: int) -> object:
    """Asked of nobody here."""
    return assignment, x, n, unused


@typed(lambda n, literal: f"x = {literal(torch.ones(n) * 0.5)}\nf(x)")
def written_probe(assignment: Any, x: Tensor, n: int) -> object:
    """Asked of nobody here."""
    return assignment, x, n


@given(st.sampled_from(DTYPES), SHAPES, st.integers(0, 2**32), st.sampled_from([0, 1, 2]))
def test_a_tensor_is_what_its_literal_makes(dtype: torch.dtype, shape: list[int], seed: int, form: int) -> None:
    made = [
        torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 9,
        torch.zeros(shape),
        torch.ones(shape),
    ]
    value = made[form].to(dtype)
    assert same(eval(literal(value), NAMES), value)


@pytest.mark.parametrize("value", [torch.arange(6.0).reshape(2, 3), torch.arange(-1, 5, dtype=torch.int32)])
def test_a_tensor_that_counts_is_an_arange(value: Tensor) -> None:
    assert literal(value).startswith("torch.arange(")
    assert same(eval(literal(value), NAMES), value)


@given(st.sampled_from(["uint16", "int64", "float32", "float64"]), st.lists(st.integers(0, 99), max_size=9))
def test_an_array_is_what_its_literal_makes(dtype: str, items: list[int]) -> None:
    value = np.array(items, dtype=dtype)
    assert same(eval(literal(value), NAMES), value)


@given(st.recursive(st.integers() | st.floats() | st.text(max_size=9) | st.none(), st.lists, max_leaves=9))
def test_any_plain_value_is_what_its_literal_makes(value: Any) -> None:
    assert same(eval(literal(value)), value)


@pytest.mark.parametrize(("least", "values"), [(0, 2), (3, 4), (5, 1)])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "uint16", "int64", "float32", "float64"], ids=str)
def test_of_a_large_value_others_of_its_kind_are_made(dtype: torch.dtype | str, least: int, values: int) -> None:
    numbers = (torch.arange(FEW[0] + 1) % values + least).reshape(-1, 5)
    value = numbers.to(dtype) if isinstance(dtype, torch.dtype) else numbers.numpy().astype(dtype)
    made = eval(literal(value), NAMES)
    assert (made.shape, made.dtype) == (value.shape, value.dtype)
    if "float" not in str(dtype):
        assert set(made.flatten().tolist()) <= set(value.flatten().tolist())


def test_that_the_tensors_are_others_is_said() -> None:
    lines = render_call(Call(plain_probe, [torch.randn(40, 3), 2, 0]))
    assert lines == ["x = torch.randn(40, 3); n = 2; f(x, n)", f"# {words('message.in_place')}"]


@given(st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=6), min_size=1, max_size=6), st.integers(50, 90))
def test_a_long_line_is_broken_within_its_brackets(rows: list[list[float]], width: int) -> None:
    lines = break_line(f"x = f({rows!r}, 'a, (b')", width)
    assert eval("\n".join(lines).removeprefix("x = "), {"f": lambda *given: given}) == (rows, "a, (b")
    assert all(len(line) <= width for line in lines)


def test_only_what_the_code_uses_is_assigned() -> None:
    assert render_call(Call(plain_probe, [torch.tensor([0.5]), 2, 7])) == ["x = torch.tensor([0.5]); n = 2; f(x, n)"]
    assert find_names_read("x = x + y\nz = x\nz") == {"x", "y"}


def test_code_may_be_written_for_the_arguments() -> None:
    assert render_call(Call(written_probe, [torch.zeros(1), 2])) == ["x = torch.tensor([0.5, 0.5]); f(x)"]


def test_code_that_can_not_be_written_leaves_the_arguments() -> None:
    assert render_call(Call(written_probe, [torch.zeros(1), Opaque("meta")])) == ["x = torch.tensor([0.0]); n = (meta)"]


def test_a_test_says_which_of_several_calls_it_judges() -> None:
    with pytest.raises(Wrong) as wrong, asking("f(x, 3)"):
        check(False, "wrong")
    call = Call(plain_probe, [torch.tensor([0.5]), 2, 7])
    assert (
        "  input     x = torch.tensor([0.5]); f(x, 3)\n" in explain("t", "claim", wrong.value, call, "pytest").message
    )


def test_a_precondition_is_what_could_not_be_asked() -> None:
    with pytest.raises(Unmet) as unmet, precondition("already this is off"), asking("f(x, 3)"):
        check(False, "wrong", yours=1.0, expected="2")
    assert (unmet.value.note, unmet.value.yours, unmet.value.asked) == ("already this is off", "1", "f(x, 3)")
