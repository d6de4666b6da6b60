"""Tests of the patterns in wrong answers, and of how a failure with its diagnosis is shown."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.sandbox.runner import WorkerRunner
from grader.tests.support.failing_tests import LocalRunner, fail, step_uphill
from torchkata.compare.assertions import assert_equal, check
from torchkata.course import Limits, course
from torchkata.diagnosis.explain import explain
from torchkata.diagnosis.recording import Example
from torchkata.diagnosis.relations import Relation
from torchkata.diagnosis.rerun import limit_examples
from torchkata.i18n import words
from torchkata.pytest_plugin import search
from torchkata.pytest_plugin.report import find_mistake
from torchkata.pytest_plugin.search import STUDENT_SECONDS, find_pattern_in_answers
from torchkata.seam.failures import Crashed, Place, TimedOut, Wrong
from torchkata.seam.student import Call, InProcess, Student
from torchkata.seam.time_limits import Times, allow

WRONG: dict[str, Callable[[int], int]] = {  # by a relation between the wrong results and x
    "yours = -expected": lambda x: -x,
    "yours = expected + 1": lambda x: x + 1,
    "wrong where x > 1, right everywhere else": lambda x: x if x < 0 else x - 1,
    "": lambda x: x * x % 7,
}


def answer_wrongly(_assignment: object, relation: str, x: int) -> int:
    return WRONG[relation](x)


@pytest.mark.parametrize("relation", WRONG)
def test_relation_that_holds_in_all_answers_is_found(relation: str) -> None:
    @given(x=st.integers(-50, 50).filter(lambda x: x not in (0, 1)))
    def test(student: Student, x: int) -> None:
        assert_equal(student.call(answer_wrongly, relation, x), x)

    body, student = fail(test)
    expected = Relation(relation, is_rule=relation.startswith("yours = "))
    for seconds, found in ((5.0, expected), (0.0, Relation())):
        assert find_pattern_in_answers(body.kept(), body, test, student, seconds, STUDENT_SECONDS) == found


def scale_matrices(_assignment: object, x: torch.Tensor) -> torch.Tensor:
    return 2 * x if x.ndim > 1 else x


def test_pattern_can_depend_on_rank_of_result() -> None:
    @given(shape=st.lists(st.integers(2, 3), min_size=1, max_size=2))
    def test(student: Student, shape: list[int]) -> None:
        for sizes in ([2, 2], shape):
            x = torch.ones(sizes)
            assert_equal(student.call(scale_matrices, x), 2 * x)

    body, student = fail(test)
    pattern = find_pattern_in_answers(body.kept(), body, test, student, 5.0, STUDENT_SECONDS)
    assert pattern == Relation("wrong where expected.ndim == 1, right everywhere else")


def add_noise(_assignment: object, x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand(())


def test_reported_inputs_exclude_lists_of_tensors() -> None:
    def probe(assignment: object, weights: list[torch.Tensor], shape: list[int], x: torch.Tensor) -> None: ...

    x = torch.ones(1)
    assert Call(probe, [[x], [2, 3], x]).own_inputs() == {"shape": [2, 3], "x": x}


def test_random_results_are_detected() -> None:
    student = Student(LocalRunner())
    for probe, random in ((add_noise, True), (scale_matrices, False)):
        student.call(probe, torch.ones(2))
        assert search.is_random(student, 1.0) is random


def test_relation_is_shown_below_note() -> None:
    error = Wrong(expected="1", yours="-1", note="1 of 1 elements differ")
    error.relation = "yours = -expected"
    lines = explain("test_y", "a · b", error, None, "pytest").message.splitlines()
    assert lines[-3:-1] == ["  note      1 of 1 elements differ", "  always    yours = -expected"]


def test_diagnosis_takes_precedence_over_mistake_named_by_test() -> None:
    error = Wrong(expected="1", yours="-1", mistake="the sign is lost")
    assert find_mistake(error) == "the sign is lost"
    assert find_mistake(Crashed("RuntimeError: Torch not compiled with CUDA enabled", Place())) == words("crash.cuda")
    seen, known = (
        explain("test_y", "a · b", error, None, "pytest", name, name).message.splitlines()
        for name in (find_mistake(error), "uphill")
    )
    assert seen[1:-1] == ["  looks like: the sign is lost", "  expected  1", "  yours     -1"]
    assert known[-2] == "  note      the sign is lost"


def test_relations_are_not_searched_in_large_answers() -> None:
    small, large = Example({}, [torch.zeros(2**10)]), Example({}, [torch.zeros(2**20)])
    assert limit_examples([small, large, small]) == [small]


def test_failed_check_is_not_explained_by_unrelated_answers() -> None:
    @given(x=st.integers(2, 50))
    def test(student: Student, x: int) -> None:
        for what in ("first", "second"):
            assert_equal(student.call(step_uphill, 0, x, 1), x, what=what)
        check(x == 1, "something else is wrong")

    body, student = fail(test)
    assert find_pattern_in_answers(body.kept(), body, test, student, 5.0, STUDENT_SECONDS) == Relation()


def test_exhausted_diagnosis_budget_interrupts_in_process_call(tmp_path: Path) -> None:
    (tmp_path / "sgd.py").write_text("while True:\n    pass\n")
    runner = InProcess(tmp_path, Limits(wall_factor=1000.0))
    runner.set_budget(0.05)
    with pytest.raises(TimedOut, match="your code used more than 1 seconds of CPU time"):
        runner.run_probe(lambda assignment: assignment.sgd, [])
    with pytest.raises(TimedOut, match="no time left"):
        runner.run_probe(lambda _: 1, [])
    runner.reset("sgd")
    assert runner.run_probe(lambda _: 1, []).value == 1


def test_diagnosis_budget_never_extends_worker_time() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        runner = WorkerRunner(ours, course().limits)
        runner.open({}, 1.0)
        runner.reset("sgd")
        runner.set_budget(0.5)
        assert runner.test.left == allow(0.5, course().limits)
        runner.test.left = left = Times(0.1, 9.0)
        runner.set_budget(0.5)
        assert runner.test.left == Times(left.cpu, 2.0), "a larger budget must not extend the worker's time"
