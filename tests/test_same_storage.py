"""same_storage: whether two tensors live on one allocation."""

from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.same_storage import oracle
from tests.probes import same_storage as probes
from tests.strategies import recipes
from torchkata.compare import assert_equal, check
from torchkata.student import Student


def sources(recipe: list[list[Any]]) -> list[int | None]:
    """For the oracle: the source of each tensor that is a view, None for one with memory of its own."""
    return [None, *(step[0] if step[1] in probes.VIEWS else None for step in recipe)]


@given(recipes(probes.VIEWS))
def test_views_of_one_tensor_share_its_storage(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """Any view (slice, row, transpose, expand, detach, a view of a view, …) shares its source's storage."""
    root, recipe = case
    recipe = [*recipe, [0, "clone", 0, 0]]  # one that is no view: to say True of everything is no answer
    answers = student.call(probes.answers, root, recipe)
    assert_equal(answers, oracle.same_storage(sources(recipe)), what="every pair, the last one a clone")


@given(recipes(probes.COPIES))
def test_copies_have_a_storage_of_their_own(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """A copy (clone, x + 0, contiguous() that had to move, equal values made anew) shares storage with nothing else."""
    assert_equal(student.call(probes.answers, *case), oracle.same_storage(sources(case[1])), what="every pair")


@given(recipes())
def test_views_and_copies_are_told_apart(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """Among views of copies and copies of views, exactly those on one allocation share a storage."""
    assert_equal(student.call(probes.answers, *case), oracle.same_storage(sources(case[1])), what="every pair")


@given(length=st.integers(2, 9), cut=st.integers(1, 8))
def test_slices_that_do_not_overlap_share_a_storage(student: Student, length: int, cut: int) -> None:
    """Two slices of one tensor share its storage, though no element belongs to both."""
    answers = student.call(probes.halves, torch.arange(length), min(cut, length - 1))
    assert_equal(answers, [True, True, True, False], what="both ways round, with its bytes, and with a clone")


@given(recipes())
def test_the_answer_is_a_real_bool(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """The answer is True or False itself, not a tensor, a number or None."""
    answers = student.call(probes.answers, *case)
    for answer in [answer for row in answers for answer in row]:
        check(type(answer) is bool, "the answer should be True or False", yours=answer, expected="a bool")
    assert_equal(answers, oracle.same_storage(sources(case[1])), what="every pair")


@given(st.sampled_from(["", "transpose", "slice", "detach", "clone"]), st.integers(1, 4))
def test_both_tensors_stay_as_they_were(student: Student, step: str, size: int) -> None:
    """Asking changes nothing: values, strides, gradients and versions stay."""
    x = torch.arange(2.0 * size).reshape(2, size)
    traces = student.call(probes.traces, x, x + 1, step)
    assert_equal(traces["answer"], step in probes.VIEWS, what="the answer")
    for name, before in traces["before"].items():
        assert_equal(traces["after"][name], before, what=name, note=f"{name} changed")
