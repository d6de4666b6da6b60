"""How drawn inputs are written down: they come back as they were, and what nobody of us wrote is found out."""

import math
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from grader.pipeline import drawn_format
from grader.pipeline.drawn_format import Damaged, Unstorable


@dataclass(frozen=True)
class Case:
    """What a strategy may make."""

    tensor: Tensor
    options: dict[str, Any]


def whole(value: Any) -> Any:
    """A value in a form that can be compared, strides and all."""
    if isinstance(value, Tensor):
        return str(value.dtype), value.shape, value.stride(), value.storage_offset(), value.tolist()
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist()
    if isinstance(value, Case):
        return "Case", whole(value.tensor), whole(value.options)
    if isinstance(value, (list, tuple)):
        return type(value), [whole(item) for item in value]
    if isinstance(value, dict):
        return [(key, whole(item)) for key, item in value.items()]
    return type(value), repr(value)


VIEWS = [
    lambda t: t,
    lambda t: t.T,
    lambda t: t[::2],
    lambda t: t[1:],
    lambda t: t[:, :1],
    lambda t: t[:0],
    lambda t: t.expand(2, 3, 3),
]
DTYPES = [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int64, torch.bool, torch.uint16, torch.complex64]
TENSORS = st.builds(
    lambda seed, dtype, view: view(torch.randn(3, 3, generator=torch.Generator().manual_seed(seed)).to(dtype)),
    st.integers(0, 9),
    st.sampled_from(DTYPES),
    st.sampled_from(VIEWS),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**80), 2**80),
    st.floats(),
    st.text(),
    st.binary(),
    st.sampled_from([torch.float32, np.uint16, math.sqrt, Case, VIEWS.__class__]),
    TENSORS,
    st.builds(np.arange, st.integers(0, 4)),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.integers(0, 3), inner, max_size=3),
        st.builds(Case, TENSORS, st.dictionaries(st.text(max_size=2), inner, max_size=2)),
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
@settings(deadline=None)
def test_stored_inputs_are_read_back_unchanged(values: dict[str, Any]) -> None:
    assert whole(drawn_format.decode(drawn_format.encode([values]))) == whole([values])


def test_reading_stored_inputs_twice_gives_separate_copies() -> None:
    content = drawn_format.encode([{"x": torch.zeros(2)}])
    first, second = drawn_format.decode(content) or [], drawn_format.decode(content) or []
    first[0]["x"] += 1
    assert second[0]["x"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(lambda: None, id="a function without a name to find it by"),
        pytest.param(torch.zeros(2, requires_grad=True), id="a tensor with a graph"),
        pytest.param(object(), id="an object of no kind that we know"),
        pytest.param(torch.nn.Parameter(torch.zeros(1)), id="a Parameter"),
    ],
)
def test_an_input_that_cannot_be_stored_raises_unstorable(value: object) -> None:
    with pytest.raises(Unstorable):
        drawn_format.encode([{"x": value}])


@pytest.mark.parametrize(
    "packed",
    [["dataclass", "os", "system", "true"], ["named", "os", "no_such_name"], ["tensor", 1], ["what"], []],
)
def test_stored_inputs_of_another_form_raise_damaged(packed: object) -> None:
    content = msgspec.msgpack.encode([{"x": packed}])
    with pytest.raises(Damaged):
        drawn_format.decode(content)
