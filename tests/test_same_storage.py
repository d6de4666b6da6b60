"""Tests for same_storage."""

import itertools
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.same_storage import oracle
from reference.same_storage.oracle import Placed
from tests.probes import same_storage as probes
from tests.strategies import recipes
from torchkata import Plain, Student, Text, asking, assert_equal, check, precondition, require

ALWAYS_THE_SAME = Text("the result is the same for a tensor and itself as for different tensors")
STATE = {
    "shapes": Text("shapes"),
    "strides": Text("strides"),
    "values": Text("values"),
    "gradients": Text("gradients"),
    "versions": Text("versions"),
}
IN_PLACE = Text("a tensor is changed in place (its version counter grew), even if its values are the same afterwards")
WHOLE_VIEWS = ("transpose", "expand", "flatten")  # begin where their source begins, in its dtype
MAX_LENGTH = 80  # maximum characters of a call that is printed in one line


def check_type(yours: Plain, call: str) -> None:
    """Check that the answer is a bool."""
    form = (
        Text("a tensor") if isinstance(yours, Tensor) else "np.bool" if isinstance(yours, str) else type(yours).__name__
    )
    with asking(call):
        note, seen = Text("the result is {form}: return True or False", form=form), Text("the result is not a bool")
        check(type(yours) is bool, note, mistake=seen, yours=yours, expected=Text("a bool"))


def read_truth(yours: Plain, call: str) -> bool:
    """Return whether an answer counts as True. A NumPy bool arrives as text."""
    if isinstance(yours, str):
        return yours == "np.True_"
    if (isinstance(yours, Tensor) and yours.numel() == 1) or isinstance(yours, int | float):
        return bool(yours)
    with precondition():
        check_type(yours, call)
    return False


def check_answer(yours: Plain, right: bool, call: str) -> None:
    """Check that the answer is correct; another test checks its type."""
    with asking(call):
        assert_equal(read_truth(yours, call), right)


def check_answers(answers: Plain, x: Tensor, recipe: list[list[Any]]) -> None:
    """Check the answer for every pair of tensors that the recipe builds."""
    tensors = probes.build(x, recipe)
    sources = [None, *(step[0] if step[1] in probes.VIEWS else None for step in recipe)]
    placed = [Placed(tensor, at) for (_, tensor), at in zip(tensors, oracle.allocations(sources), strict=True)]
    for i, j in itertools.product(range(len(tensors)), repeat=2):
        call = format_call(tensors[i][0], tensors[j][0])
        check_answer(answers[i][j], oracle.same_storage(placed[i], placed[j]), call)


def format_call(x: str, y: str) -> str:
    """Return the source code of a call."""
    call = f"same_storage({x}, {y})"
    return call if len(call) <= MAX_LENGTH else f"a = {x}\nb = {y}\nsame_storage(a, b)"


@given(recipes(probes.VIEWS))
def test_views_of_one_tensor_share_its_storage(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """A tensor shares its storage with its views (slice, row, a view of a view, …) and itself, but not with a clone."""
    x, recipe = case
    recipe = [*recipe, [0, "clone", 0, 0]]  # not a view, so that code that always returns True fails
    check_answers(student.call(probes.compare_all, x, recipe), x, recipe)


@given(recipes(probes.COPIES))
def test_copies_have_their_own_storage(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """A tensor shares its storage with itself, but not with copies (clone, x + 0, new tensors of equal values)."""
    check_answers(student.call(probes.compare_all, *case), *case)


@given(recipes(WHOLE_VIEWS + probes.COPIES))
def test_views_and_copies_are_distinguished(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """Tensors (views of copies, copies of views) share a storage if and only if they use the same allocation."""
    check_answers(student.call(probes.compare_all, *case), *case)


@given(length=st.integers(3, 9), cut=st.integers(1, 8))
def test_disjoint_slices_share_storage(student: Student, length: int, cut: int) -> None:
    """Slices of one tensor share its storage, even if they do not overlap, but not the storage of its copies."""
    x, cut = torch.arange(length), min(cut, length - 1)
    answers = student.call(probes.compare_parts, x, cut)
    for answer, (a, b, share) in zip(answers, probes.list_parts(cut), strict=True):
        left = Placed(probes.evaluate(a, x), 0)
        right = left if a == b == "x" else Placed(probes.evaluate(b, x), 0 if share else 1)
        check_answer(answer, oracle.same_storage(left, right), format_call(a, b))


@given(recipes())
def test_result_is_a_bool(student: Student, case: tuple[Tensor, list[list[Any]]]) -> None:
    """The result is a bool, not a tensor, a number or None."""
    x, recipe = case
    recipe = [*recipe, [0, "clone", 0, 0]]
    answers = student.call(probes.compare_all, x, recipe)
    calls = [code for code, _ in probes.build(x, recipe)]
    for (i, one), (j, other) in itertools.product(enumerate(calls), repeat=2):
        check_type(answers[i][j], format_call(one, other))
    require(len({answer for row in answers for answer in row}) > 1, ALWAYS_THE_SAME, yours=answers[0][0])


@given(st.sampled_from(["", "transpose", "slice", "detach", "clone"]), st.integers(1, 4))
def test_tensors_are_not_modified(student: Student, step: str, size: int) -> None:
    """A call does not change the tensors: shapes, strides, values, gradients, requires_grad and version counters."""
    x = torch.arange(2.0 * size).reshape(2, size)
    reply = student.call(probes.observe, x, x + 1, step)
    for name, before in reply["before"].items():
        what = STATE.get(name, name)
        changed = IN_PLACE if name == "versions" else Text("{name} changed", name=what)
        assert_equal(reply["after"][name], before, what=what, mistake=changed)
    with precondition():
        for name, answer, right in zip("xy", reply["answers"], (True, False), strict=True):
            check_answer(answer, right, f"x.requires_grad_()\nsame_storage(x, {name})")
