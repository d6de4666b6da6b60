"""Tests of the search for patterns and known mistakes in wrong answers, and of how a failure shows what was found."""

import inspect
import itertools
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import currently_in_test_context, given
from hypothesis import strategies as st

from grader.sandbox.runner import WorkerRunner
from grader.tests.support.failing_tests import LocalRunner, fail, step_uphill
from reference.sgd import oracle
from torchkata.compare.assertions import assert_equal, check
from torchkata.course import Limits, course
from torchkata.diagnosis import mistakes
from torchkata.diagnosis.explain import explain
from torchkata.diagnosis.mistakes import KnownMistake, expand_constants, instead_of
from torchkata.diagnosis.recording import Example, RecordedBody
from torchkata.diagnosis.relations import Relation
from torchkata.diagnosis.rerun import limit_examples
from torchkata.pytest_plugin import search
from torchkata.pytest_plugin.report import find_mistake
from torchkata.pytest_plugin.search import STUDENT_SECONDS, find_mistakes, find_pattern_in_answers, load_known_mistakes
from torchkata.seam.failures import Crashed, Place, TimedOut, Wrong
from torchkata.seam.student import Call, InProcess, Student
from torchkata.seam.time_limits import Times, allow

WRONG: dict[str, Callable[[int], int]] = {  # by a relation between the wrong results and x
    "yours = -expected": lambda x: -x,
    "yours = expected + 1": lambda x: x + 1,
    "wrong in all N cases where x > 1, right in the N others": lambda x: x if x < 0 else x - 1,
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
        seen = find_pattern_in_answers(body.kept(), body, test, student, seconds, STUDENT_SECONDS)
        assert seen._replace(sentence=re.sub(r"(all|the) \d+", r"\1 N", seen.sentence)) == found


def scale_matrices(_assignment: object, x: torch.Tensor) -> torch.Tensor:
    return 2 * x if x.ndim > 1 else x


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
        assert search.ask(student, 1.0, search.is_random, otherwise=not random) is random


def test_relation_is_shown_below_note() -> None:
    error = Wrong(expected="1", yours="-1", note="1 of 1 elements differ")
    error.relation = "yours = -expected"
    lines = explain("test_y", "a · b", error, None, "pytest").message.splitlines()
    assert lines[-3:-1] == ["  note      1 of 1 elements differ", "  always    yours = -expected"]


def test_diagnosis_takes_precedence_over_mistake_named_by_test() -> None:
    error = Wrong(expected="1", yours="-1", mistake="the sign is lost")
    assert find_mistake(error) == "the sign is lost"
    crash = Crashed("RuntimeError: Torch not compiled with CUDA enabled", Place())
    assert str(find_mistake(crash)).startswith("a device (cuda or mps) is used")
    seen, known = (
        explain("test_y", "a · b", error, None, "pytest", name, name).message.splitlines()
        for name in (str(find_mistake(error)), "uphill")
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


RIGHT = oracle.step
KATAS = [kata for kata in course().katas if (course().folder(kata) / "mistakes.py").is_file()]


def make_mistake(message: str, mistaken: Callable[..., Any]) -> KnownMistake:
    """Return a known mistake in `step`."""
    return KnownMistake(message, tuple(expand_constants(instead_of(RIGHT, message)(mistaken))))


def step_raising(p: float, grad: float, lr: float) -> float:
    raise ArithmeticError(p, grad, lr)


def step_hanging(p: float, grad: float, lr: float) -> float:
    while True:
        p -= grad * lr


UPHILL = make_mistake("uphill", lambda p, grad, lr: p + lr * grad)
STILL = make_mistake("still", lambda p, grad, lr: p + 0 * grad * lr)
SAME_AS_UPHILL = make_mistake("the step is taken off twice", lambda p, grad, lr: 2 * p - oracle.step(p, grad, lr))
RAISING, HANGING = make_mistake("raising", step_raising), make_mistake("hanging", step_hanging)
floats = st.integers(-8, 8).map(float)
with_random_steps = given(p=floats, grad=floats, lr=st.sampled_from([0.5, 0.25]))


@with_random_steps
def property_test(student: Student, p: float, grad: float, lr: float) -> None:
    assert_equal(student.call(step_uphill, p, grad, lr), oracle.step(p, grad, lr))  # type: ignore[arg-type]


def plain_test(student: Student) -> None:
    """Compare the results of several calls, the first of which is correct."""
    for grad in (0.0, 1.0, 2.0, 3.0):
        assert student.call(step_uphill, 1.0, grad, 0.5) == oracle.step(1.0, grad, 0.5)  # type: ignore[arg-type]


def diagnose(test: Any, *known: KnownMistake, runner: LocalRunner | None = None, seconds: float = 5.0) -> list[str]:
    """Return the known mistakes that explain a failure of the test."""
    body, student = fail(test, runner)
    found = find_mistakes(known, body, test, student, seconds, STUDENT_SECONDS)
    assert not currently_in_test_context(), "Hypothesis considers the test of the example to be running"
    return found


@pytest.mark.parametrize("test", [property_test, plain_test])
@pytest.mark.parametrize(
    ("known", "explaining"),
    [
        ([STILL, UPHILL], ["uphill"]),
        ([UPHILL, SAME_AS_UPHILL], ["uphill", "the step is taken off twice"]),
        ([STILL], []),
        ([], []),
        ([RAISING, UPHILL], ["uphill"]),
    ],
)
def test_mistakes_that_explain_all_answers_are_found(
    test: Any, known: list[KnownMistake], explaining: list[str]
) -> None:
    assert diagnose(test, *known) == explaining


HALVED = make_mistake("halved", lambda p, grad, lr: oracle.step(p, grad / 2, lr))


def test_alternative_mistakes_must_concern_the_same_function(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = instead_of(print, "elsewhere")(print)
    known = (UPHILL, STILL, HALVED, KnownMistake("elsewhere", (elsewhere,)))
    monkeypatch.setattr(mistakes, "load_mistakes", lambda _: known)
    for messages, shown in {
        (): "",
        ("uphill",): "uphill",
        ("uphill", "still"): "uphill; or: still",
        ("uphill", "elsewhere"): "",
        ("uphill", "still", "halved"): "",
    }.items():
        assert mistakes.name_mistake("sgd", messages) == shown


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer that stops it")
def test_diagnosis_skips_mistake_that_hangs() -> None:
    assert diagnose(property_test, HANGING, UPHILL, seconds=0.2) == []
    assert oracle.step is RIGHT


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer that stops it")
@pytest.mark.parametrize(("examples", "found"), [(2, []), (30, ["slow"])])
def test_last_mistake_needs_enough_examples(examples: int, found: list[str]) -> None:
    tried = itertools.count()

    def step_slow(p: float, grad: float, lr: float) -> float:
        is_in_time = next(tried) < examples
        while not is_in_time:
            pass
        return p + lr * grad

    assert diagnose(property_test, make_mistake("slow", step_slow), STILL, seconds=0.5) == found


def test_no_diagnosis_is_attempted_without_remaining_time() -> None:
    assert diagnose(property_test, UPHILL, seconds=0.0) == []


def test_diagnosis_after_timeout_calls_no_student_code() -> None:
    body, student = fail(property_test, runner := LocalRunner())
    runner.calls = 0
    found = find_mistakes([UPHILL], body, property_test, student, 5.0, STUDENT_SECONDS)
    assert found == ["uphill"], "recorded answers are enough"
    assert runner.calls == -1, "after the time-out, student code must not be called again"


def test_diagnosis_must_explain_all_answers_within_budget() -> None:
    runner = LocalRunner()
    assert diagnose(plain_test, UPHILL, runner=runner) == ["uphill"]
    assert runner.budget == STUDENT_SECONDS
    assert diagnose(plain_test, UPHILL, runner=LocalRunner(calls=2)) == []


def test_diagnostic_calls_are_omitted_from_failure_message() -> None:
    body, student = fail(property_test)
    shown = student.last
    assert find_mistakes([UPHILL], body, property_test, student, 5.0, STUDENT_SECONDS) == ["uphill"]
    assert student.last is shown


def large(_assignment: object, count: int) -> torch.Tensor:
    return torch.zeros(count, 2**18)


def test_large_answers_are_not_recorded() -> None:
    def test(student: Student, count: int) -> None:
        student.call(large, count)

    body = RecordedBody(test)
    body.begin({"student": Student(LocalRunner())})
    for count in (3, 5, 2):
        body(count=count)
    assert [example.given["count"] for example in body.kept()] == [2, 3]


def test_exception_knows_the_call_that_it_is_about() -> None:
    def test(student: Student, count: int) -> None:
        assert len(student.call(large, count)) == count == 3

    body = RecordedBody(test)
    body.begin({"student": (student := Student(LocalRunner()))})
    with pytest.raises(AssertionError) as failure:
        body(count=5)
    body(count=3)
    assert (failure.value.last_call.args, student.last and student.last.args) == ([5], [3])  # type: ignore[attr-defined]


def test_mistakes_file_with_syntax_error_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "load_mistakes", lambda _: compile("half a", "file", "exec"))
    assert load_known_mistakes("linear") == ()


def test_mistakes_with_same_message_are_merged() -> None:
    (found,) = [
        known
        for known in mistakes.load_mistakes("linear")
        if known.message.startswith("all initial weights are positive")
    ]
    assert {part.right.__name__ for part in found.parts} == {"initial_mean", "initial_std"}


@pytest.mark.parametrize("kata", KATAS)
def test_mistake_has_same_parameters_as_replaced_function(kata: str) -> None:
    assert mistakes.load_named_mistakes(kata), "no mistake is known"
    for name, known in mistakes.load_named_mistakes(kata).items():
        module = known.right.__module__
        assert getattr(sys.modules[module], known.right.__name__) is known.right, name
        assert module == "reference.optimizers" or module.endswith(".oracle")
        for fit in expand_constants(known):
            assert fit.message == fit.message.strip().removesuffix("."), name
            inspect.signature(fit.mistaken).bind(**dict.fromkeys(inspect.signature(known.right).parameters))
