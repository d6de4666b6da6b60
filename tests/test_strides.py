"""Tests for strides."""

import math
from dataclasses import dataclass
from itertools import product

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.strides import oracle
from tests.own_answers import holds
from tests.probes import strides as probes
from tests.strategies import SEEDS, SEQUENCES, rng_of, sizes
from torchkata import Student, Text, asking, assert_equal, check, require

BEYOND_FLOATS = st.integers(2**52, 2**53).map(lambda half: 2 * half + 1)
BEYOND_WALKING = st.integers(2**40, 2**41)
judge_layout = oracle.is_contiguous  # stored here so that no mistake replaces it
STEPS = st.sampled_from(["slice", "transpose", "every_second", "expand", "row"])


@dataclass(frozen=True)
class Layout:
    """A shape and its strides."""

    shape: list[int]
    strides: list[int]


@st.composite
def views(draw: st.DrawFn) -> Tensor:
    """Generate a view created in up to three steps from a tensor whose values are storage positions."""
    shape = draw(st.lists(st.integers(1, 4), max_size=4))
    view = torch.arange(math.prod(shape)).reshape(shape)
    rng = rng_of(draw(SEEDS))
    for step in draw(st.lists(STEPS, min_size=1, max_size=3)):
        axis, other = (int(a) for a in rng.integers(0, max(1, view.ndim), 2))
        match step:
            case "slice" if view.ndim:
                start = int(rng.integers(view.shape[axis]))
                view = view.narrow(axis, start, view.shape[axis] - start)
            case "transpose" if view.ndim:
                view = view.transpose(axis, other)
            case "every_second" if view.ndim:
                view = view[1::2] if len(view) > 1 else view[::2]
            case "row" if view.ndim:
                view = view.select(axis, int(rng.integers(view.shape[axis])))
            case _:
                view = view.unsqueeze(0).expand(2, *view.shape)
    return view


@st.composite
def layouts(draw: st.DrawFn, each: st.SearchStrategy[int]) -> Layout:
    """Generate contiguous strides or a variation of them. "shifted" preserves the position of the last element."""
    shape = draw(st.lists(each, min_size=1, max_size=4))
    strides = list(torch.empty(shape, device="meta").stride())  # not the oracle, which may be mistaken
    axis, other = draw(st.integers(0, len(shape) - 1)), draw(st.integers(0, len(shape) - 1))
    match draw(st.sampled_from(["unchanged", "swapped", "gap", "expanded", "any", "shifted"])):
        case "swapped":
            for numbers in (shape, strides):
                numbers[axis], numbers[other] = numbers[other], numbers[axis]
        case "gap":
            strides = [stride * (2 if i <= axis else 1) for i, stride in enumerate(strides)]
        case "expanded":
            strides[axis] = 0
        case "any":
            strides[axis] = draw(st.integers(0, 9))
        case "shifted" if axis != other and shape[axis] > 1 and shape[other] > 1:
            part = math.gcd(shape[axis] - 1, shape[other] - 1)
            less, more = (shape[other] - 1) // part, (shape[axis] - 1) // part
            if strides[axis] >= less:
                strides[axis] -= less
                strides[other] += more
    return Layout(shape, strides)


@given(st.lists(st.integers(1, 9), max_size=5))
def test_strides_are_products_of_later_sizes(student: Student, shape: list[int]) -> None:
    """The strides of a contiguous tensor are ints: the last is 1, and each other is the product of all later sizes."""
    yours = student.call(probes.contiguous_strides, shape)
    assert_equal(yours, oracle.contiguous_strides(shape), what=Text("strides"))


@given(st.lists(st.integers(1, 9), max_size=5), SEQUENCES)
def test_strides_are_a_tuple(student: Student, shape: list[int], kind: str) -> None:
    """The strides are returned as a tuple, as by x.stride(), even if the shape is a list or a torch.Size."""
    is_tuple = student.call(probes.gives_a_tuple, shape, kind)
    check(is_tuple, mistake=Text("the strides are not a tuple"), expected=Text("a tuple of ints"))


@given(st.lists(sizes(2, 3, 0), min_size=1, max_size=4), st.integers(0, 4))
def test_size_zero_is_treated_as_one(student: Student, others: list[int], place: int) -> None:
    """Each stride is an int, the product of all later sizes, where a size of 0 counts as 1."""
    shape = [*others[:place], 0, *others[place:]]
    yours = student.call(probes.contiguous_strides, shape)
    assert_equal(yours, oracle.contiguous_strides(shape), what=Text("strides"))


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), BEYOND_FLOATS)
def test_large_strides_are_exact(student: Student, a: int, b: int, c: int, times: int) -> None:
    """Strides are ints, the exact products of all later sizes, even for tensors that are larger than memory."""
    shape = [a | 1, b | 1, c | 1]
    yours = student.call(probes.contiguous_strides, oracle.lengthen(shape, times))
    assert_equal(yours, oracle.contiguous_strides(shape, times), what=Text("strides"))


@given(views())
def test_index_maps_to_its_element(student: Student, view: Tensor) -> None:
    """The result is an int, the position of the element in the storage, for any view (slice, transpose, expand, …)."""
    indices = [list(index) for index in product(*(range(size) for size in view.shape))][:64]
    strides, offset = list(view.stride()), int(view.storage_offset())
    yours = student.call(probes.storage_indices, strides, offset, indices)
    for index, element in zip(indices, yours, strict=True):
        with asking(f"storage_index({tuple(strides)}, {tuple(index)}, {offset})"):
            assert_equal(element, oracle.storage_index(strides, index, offset), what=Text("element"))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=4), SEQUENCES)
def test_offset_defaults_to_zero(student: Student, axes: list[tuple[int, int]], kind: str) -> None:
    """Without an offset, the result is an int, the sum of index · stride, for tuples, lists and torch.Size."""
    strides, index = [stride for stride, _ in axes], [i for _, i in axes]
    yours = student.call(probes.index_without_offset, strides, index, kind)
    assert_equal(yours, oracle.storage_index(strides, index), what=Text("element"))


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(1, 4)), min_size=1, max_size=3), BEYOND_FLOATS)
def test_large_indices_are_exact(student: Student, axes: list[tuple[int, int]], times: int) -> None:
    """Without an offset, positions are exactly the sum of index · stride, even beyond the size of memory."""
    strides, index = [stride | 1 for stride, _ in axes], [i for _, i in axes]
    yours = student.call(probes.index_without_offset, strides, oracle.lengthen(index, times), "tuple")
    assert_equal(yours, oracle.storage_index(strides, index, times=times), what=Text("element"))


@given(layouts(st.integers(2, 4)), BEYOND_WALKING)
def test_contiguous_requires_row_major_strides(student: Student, layout: Layout, times: int) -> None:
    """is_contiguous is True for row-major strides, also of shape (), else False (transposed, expanded, gaps, …)."""
    assert_contiguity(student, layout)
    assert_contiguity(student, layout, times)
    assert_contiguity(student, Layout([], []))


@given(layouts(st.integers(1, 2)), SEQUENCES)
def test_axis_of_size_one_may_have_any_stride(student: Student, layout: Layout, kind: str) -> None:
    """For tuples, lists and torch.Size, is_contiguous ignores strides of axes of size 1; the rest must be row-major."""
    assert_contiguity(student, layout, kind=kind)


@given(layouts(sizes(2, 2, 0)))
def test_empty_tensor_is_contiguous(student: Student, layout: Layout) -> None:
    """is_contiguous is True for a tensor with an axis of size 0, regardless of its strides."""
    assert_contiguity(student, Layout([0, 3], [7, 5]))  # a wrong stride comes after the axis of size 0
    if 0 in layout.shape:
        assert_contiguity(student, layout)
        return
    yours = student.call(probes.is_contiguous, layout.shape, layout.strides, "tuple")
    right = holds(assert_equal, yours, judge_layout(layout.shape, layout.strides))
    require(right, Text("a tensor without an axis of size 0 is already judged wrongly"), yours=yours)


def assert_contiguity(student: Student, layout: Layout, times: int = 1, kind: str = "tuple") -> None:
    """Check the answer for a layout whose last dimension is `times` times as long."""
    shape, strides = layout.shape, layout.strides
    yours = student.call(probes.is_contiguous, oracle.lengthen(shape, times), oracle.widen(strides, times), kind)
    assert_equal(yours, oracle.is_contiguous(shape, strides, times), what="is_contiguous")
