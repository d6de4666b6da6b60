"""same_storage: whether two tensors live on one allocation."""

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.same_storage import oracle
from reference.same_storage.oracle import Placed
from tests.probes import same_storage as probes
from tests.strategies import recipes
from torchkata import Plain, Student, asking, assert_equal, check, precondition, require

Demand: TypeAlias = Callable[..., None]  # check or require

SHORT = 80  # characters


def check_answer(yours: Plain, right: bool, asked: str, *, demand: Demand = require) -> None:
    """Demand the right answer; that it is True or False itself is what one test is about, and the others need it."""
    form = "a tensor" if isinstance(yours, Tensor) else type(yours).__name__
    with asking(asked):
        note, seen = f"this is {form}: it should be True or False itself", "the answer is not True or False itself"
        demand(type(yours) is bool, note, mistake=seen, yours=yours, expected="a bool")
        assert_equal(yours, right)


def check_answers(answers: Plain, x: Tensor, recipe: list[list[Any]], *, demand: Demand = require) -> None:
    """Demand the right answer for every pair of the tensors that this recipe makes."""
    made = probes.build(x, recipe)
    sources = [None, *(step[0] if step[1] in probes.VIEWS else None for step in recipe)]
    placed = [Placed(tensor, at) for (_, tensor), at in zip(made, oracle.allocations(sources), strict=True)]
    for i, j in itertools.product(range(len(made)), repeat=2):
        asked = asked_of(made[i][0], made[j][0])
        check_answer(answers[i][j], oracle.same_storage(placed[i], placed[j]), asked, demand=demand)


def asked_of(one: str, other: str) -> str:
    """The call for two tensors, as it is typed."""
    whole = f"same_storage({one}, {other})"
    return whole if len(whole) <= SHORT else f"a = {one}\nb = {other}\nsame_storage(a, b)"


@given(recipes(probes.VIEWS))
def test_views_of_one_tensor_share_its_storage(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """Any view (slice, row, transpose, expand, detach, a view of a view, …) shares its source's storage."""
    x, recipe = case
    recipe = [*recipe, [0, "clone", 0, 0]]  # one that is no view: to say True of everything is no answer
    check_answers(student.call(probes.answers, x, recipe), x, recipe)


@given(recipes(probes.COPIES))
def test_copies_have_a_storage_of_their_own(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """A copy (clone, x + 0, contiguous() that had to move, equal values made anew) shares storage with nothing else."""
    check_answers(student.call(probes.answers, *case), *case)


@given(recipes())
def test_views_and_copies_are_told_apart(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """Among views of copies and copies of views, exactly those on one allocation share a storage."""
    check_answers(student.call(probes.answers, *case), *case)


@given(length=st.integers(3, 9), cut=st.integers(1, 8))
def test_slices_that_do_not_overlap_share_a_storage(student: Student, length: int, cut: int) -> None:
    """Two parts of one tensor share its storage, though no element belongs to both."""
    x, cut = torch.arange(length), min(cut, length - 1)
    answers = student.call(probes.answers_on_parts, x, cut)
    for answer, (one, other, share) in zip(answers, probes.parts(cut), strict=True):
        left = Placed(probes.value(one, x), 0)
        right = left if one == other == "x" else Placed(probes.value(other, x), 0 if share else 1)
        check_answer(answer, oracle.same_storage(left, right), f"same_storage({one}, {other})")


@given(recipes())
def test_the_answer_is_a_real_bool(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """The answer is True or False itself, not a tensor, a number or None."""
    check_answers(student.call(probes.answers, *case), *case, demand=check)


@given(st.sampled_from(["", "transpose", "slice", "detach", "clone"]), st.integers(1, 4))
def test_both_tensors_stay_as_they_were(student: Student, step: str, size: int) -> None:
    """Asking changes nothing: values, strides, gradients and versions stay."""
    x = torch.arange(2.0 * size).reshape(2, size)
    traces = student.call(probes.traces, x, x + 1, step)
    typed = probes.expression(x, step, 0, 1).format(x="x") if step else "x + 1"
    placed, other = Placed(x, 0), Placed(probes.value(typed, x), 0 if step in probes.VIEWS else 1)
    for name, before in traces["before"].items():
        assert_equal(traces["after"][name], before, what=name, mistake=f"{name} changed")
    asked = zip((typed, "x"), traces["answers"], ((placed, other), (placed, placed)), strict=True)
    with precondition():
        for name, answer, pair in asked:
            check_answer(answer, oracle.same_storage(*pair), f"x.requires_grad_()\nsame_storage(x, {name})")
