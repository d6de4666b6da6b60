"""A failing test says which known mistake it looks like, when it is exactly one, and nothing else about it changes."""

import inspect
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import torchkata.pytest_plugin.search
from grader.sandbox.runner import WorkerRunner
from reference.sgd import oracle
from torchkata.compare.assertions import assert_equal, check
from torchkata.course import course
from torchkata.diagnosis.explain import explain
from torchkata.diagnosis.mistakes import (
    KnownMistake,
    expand_constants,
    instead_of,
    load_mistakes,
    load_named_mistakes,
    patched_oracle,
)
from torchkata.diagnosis.recording import Example, RecordedBody, record_body
from torchkata.diagnosis.relations import Relation
from torchkata.diagnosis.rerun import limit_examples
from torchkata.i18n import words
from torchkata.pytest_plugin.report import find_mistake
from torchkata.pytest_plugin.search import STUDENT_SECONDS, find_mistakes, find_pattern_in_answers, load_known_mistakes
from torchkata.seam.failures import Crashed, Place, TimedOut, Wrong
from torchkata.seam.reply import Probe, Reply
from torchkata.seam.student import InProcess, Student
from torchkata.seam.values import Plain

RIGHT = oracle.step
KATAS = [kata for kata in course().katas if (course().folder(kata) / "mistakes.py").is_file()]


class Here:
    """A runner of no student's code: probes are run as they are, so many times, and then none answers."""

    def __init__(self, calls: int = 10**6) -> None:
        self.calls = calls
        self.budget = 0.0

    def reset(self, kata: str) -> None:
        """Nothing to import."""

    def start_over(self, kata: str) -> None:
        """Nothing to import."""

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Run it."""
        self.calls -= 1
        if self.calls < 0:
            raise TimedOut("it hangs")
        return Reply("returned", probe(None, *args))

    def set_budget(self, seconds: float) -> None:
        """Note it."""
        self.budget = seconds


def uphill(_assignment: object, p: float, grad: float, lr: float) -> float:
    """What a student computes who has the sign wrong."""
    return p + lr * grad


def mistake(says: str, mistaken: Callable[..., Any]) -> KnownMistake:
    """One about the step."""
    return KnownMistake(says, tuple(expand_constants(instead_of(RIGHT, says)(mistaken))))


def raising(p: float, grad: float, lr: float) -> float:
    """A mistake that does not even compute."""
    raise ArithmeticError(p, grad, lr)


def hanging(p: float, grad: float, lr: float) -> float:
    """A mistake that computes for ever."""
    while True:
        p -= grad * lr


UPHILL = mistake("uphill", lambda p, grad, lr: p + lr * grad)
STILL = mistake("still", lambda p, grad, lr: p + 0 * grad * lr)
SAME_AS_UPHILL = mistake("the step is taken off twice", lambda p, grad, lr: 2 * p - oracle.step(p, grad, lr))
RAISING, HANGING = mistake("raising", raising), mistake("hanging", hanging)
floats = st.integers(-8, 8).map(float)


@given(p=floats, grad=floats, lr=st.sampled_from([0.5, 0.25]))
def step_is_downhill(student: Student, p: float, grad: float, lr: float) -> None:
    """A property, as the katas' tests have them."""
    assert student.call(uphill, p, grad, lr) == oracle.step(p, grad, lr)  # type: ignore[arg-type]


def steps_are_downhill(student: Student) -> None:
    """A plain test with several calls: the first that differs ends it."""
    for grad in (0.0, 1.0, 2.0, 3.0):
        assert student.call(uphill, 1.0, grad, 0.5) == oracle.step(1.0, grad, 0.5)  # type: ignore[arg-type]


def said(mistakes: list[str]) -> str:
    """What is said where these explain all answers."""
    return mistakes[0] if len(mistakes) == 1 else ""


def fail(test: Any, runner: Here | None = None) -> tuple[Any, Student]:
    """Let a test fail; return its recorded body and its student."""
    student = Student(runner or Here())
    body = record_body(SimpleNamespace(obj=test))
    body.begin({"student": student})
    with pytest.raises(AssertionError):
        (test if hasattr(test, "hypothesis") else body)(student=student)
    return body, student


def diagnose(
    test: Any,
    *known: KnownMistake,
    runner: Here | None = None,
    seconds: float = 5.0,
    before: Callable[[], None] = lambda: None,
) -> str:
    """What is said of a failure of this test, to which these mistakes are known."""
    body, student = fail(test, runner)
    before()
    return said(find_mistakes(known, body, test, student, seconds, STUDENT_SECONDS))


@pytest.mark.parametrize("test", [step_is_downhill, steps_are_downhill])
def test_the_only_mistake_that_explains_all_answers_is_named(test: Any) -> None:
    assert diagnose(test, STILL, UPHILL) == "uphill"


@pytest.mark.parametrize("test", [step_is_downhill, steps_are_downhill])
def test_no_mistake_is_named_where_two_explain_all_answers(test: Any) -> None:
    assert diagnose(test, UPHILL, SAME_AS_UPHILL) == ""


@pytest.mark.parametrize("test", [step_is_downhill, steps_are_downhill])
def test_no_mistake_is_named_where_none_explains_all_answers(test: Any) -> None:
    assert diagnose(test, STILL) == ""
    assert diagnose(test) == ""


def test_a_mistake_that_raises_explains_nothing() -> None:
    assert diagnose(step_is_downhill, RAISING, UPHILL) == "uphill"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer that stops it")
def test_a_mistake_that_hangs_is_given_up() -> None:
    assert diagnose(step_is_downhill, HANGING, UPHILL, seconds=0.2) == ""
    assert oracle.step is RIGHT


def test_no_mistake_is_named_when_no_time_is_left() -> None:
    assert diagnose(step_is_downhill, UPHILL, seconds=0.0) == ""


def test_a_student_who_stops_answering_is_asked_no_further() -> None:
    runner = Here()

    def stop() -> None:
        runner.calls = 0

    assert diagnose(step_is_downhill, UPHILL, runner=runner, before=stop) == "uphill", "what was kept is enough"
    assert runner.calls == -1
    runner = Here()
    assert diagnose(steps_are_downhill, UPHILL, runner=runner) == "uphill"
    assert runner.budget == STUDENT_SECONDS


def test_no_mistake_is_named_while_answers_are_missing() -> None:
    runner = Here(calls=2)
    assert diagnose(steps_are_downhill, UPHILL, runner=runner) == ""


def test_calls_for_the_diagnosis_are_not_shown_in_the_failure() -> None:
    body, student = fail(step_is_downhill)
    shown = student.last
    assert find_mistakes([UPHILL], body, step_is_downhill, student, 5.0, STUDENT_SECONDS) == ["uphill"]
    assert student.last is shown


def large(_assignment: object, count: int) -> torch.Tensor:
    return torch.zeros(count, 2**18)


def test_answers_that_would_fill_the_memory_are_not_recorded() -> None:
    def test(student: Student, count: int) -> None:
        student.call(large, count)

    body = RecordedBody(test)
    body.begin({"student": Student(Here())})
    for count in (3, 5, 2):
        body(count=count)
    assert [example.given["count"] for example in body.kept()] == [2, 3]


def test_a_file_of_mistakes_that_cannot_be_read_ends_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_kata: str) -> tuple[KnownMistake, ...]:
        raise SyntaxError("half a file")

    monkeypatch.setattr(torchkata.pytest_plugin.search, "load_mistakes", broken)
    assert load_known_mistakes("linear") == ()


def test_a_mistake_can_call_the_right_oracle_and_the_oracle_is_restored() -> None:
    with patched_oracle(SAME_AS_UPHILL):
        assert oracle.step(1.0, 1.0, 0.5) == 1.5  # type: ignore[arg-type]
        assert oracle.step is not RIGHT
    assert oracle.step is RIGHT


def test_mistakes_with_the_same_sentence_are_one_mistake() -> None:
    (found,) = [
        mistake for mistake in load_mistakes("linear") if mistake.message.startswith("the initial weight is uni")
    ]
    assert {part.right.__name__ for part in found.parts} == {"initial_std", "initial_kurtosis"}


@pytest.mark.parametrize("name_of_kata", KATAS)
def test_a_mistake_replaces_a_function_of_the_oracle_with_the_same_arguments(name_of_kata: str) -> None:
    assert load_named_mistakes(name_of_kata), "no mistake is known"
    for name, one in load_named_mistakes(name_of_kata).items():
        assert getattr(sys.modules[one.right.__module__], one.right.__name__) is one.right, name
        assert one.right.__module__ == "reference.optimizers" or one.right.__module__.endswith(".oracle")
        for fit in expand_constants(one):
            assert fit.message == fit.message.strip().removesuffix("."), name
            inspect.signature(fit.mistaken).bind(**dict.fromkeys(inspect.signature(one.right).parameters))


def test_a_constant_is_fitted_and_named() -> None:
    def faster(p: float, grad: float, lr: float, rate: float) -> float:
        return p - rate * lr * grad

    one = instead_of(RIGHT, "lr is multiplied by {rate:g}", rate=[-2.0, -1.0, 0.5])(faster)
    known = [KnownMistake(fit.message, (fit,)) for fit in expand_constants(one)]
    assert diagnose(step_is_downhill, *known) == "lr is multiplied by -1"
    assert diagnose(step_is_downhill, known[0]) == ""


def negative(_assignment: object, x: int) -> int:
    return -x


def one_more(_assignment: object, x: int) -> int:
    return x + 1


def one_less_from_0(_assignment: object, x: int) -> int:
    return x if x < 0 else x - 1


def squared(_assignment: object, x: int) -> int:
    return x * x % 7


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (negative, "yours = -expected"),
        (one_more, "yours = expected + 1"),
        (one_less_from_0, "wrong where x > 1, right everywhere else"),
        (squared, ""),
    ],
)
def test_relation_of_in_all_answers_is_told(wrong: Probe, told: str) -> None:
    @given(x=st.integers(-50, 50).filter(lambda x: x not in (0, 1)))
    def test(student: Student, x: int) -> None:
        assert_equal(student.call(wrong, x), x)

    body, student = fail(test)
    holds = find_pattern_in_answers(body.kept(), body, test, student, 5.0, STUDENT_SECONDS)
    assert holds == Relation(told, is_rule=told.startswith("yours = "))
    assert find_pattern_in_answers(body.kept(), body, test, student, 0.0, STUDENT_SECONDS) == Relation(), (
        "no time is left"
    )


def test_a_relation_is_told_below_the_note() -> None:
    error = Wrong(expected="1", yours="-1", note="1 of 1 elements differ")
    error.relation = "yours = -expected"
    lines = explain("test_y", "a · b", error, None, "pytest").message.splitlines()
    assert lines[-3:-1] == ["  note      1 of 1 elements differ", "  always    yours = -expected"]


def test_what_a_test_has_seen_is_what_it_looks_like_where_no_known_mistake_is() -> None:
    error = Wrong(expected="1", yours="-1", mistake="the sign is lost")
    assert find_mistake(error) == "the sign is lost"
    assert find_mistake(Crashed("RuntimeError: Torch not compiled with CUDA enabled", Place())) == words("crash.cuda")
    lines = explain(
        "test_y", "a · b", error, None, "pytest", find_mistake(error), find_mistake(error)
    ).message.splitlines()
    assert lines[1:-1] == ["  looks like: the sign is lost", "  expected  1", "  yours     -1"]
    lines = explain("test_y", "a · b", error, None, "pytest", "uphill", "uphill").message.splitlines()
    assert lines[-2] == "  note      the sign is lost"


def test_large_answers_are_not_computed_with() -> None:
    small, large = Example({}, [torch.zeros(2**10)]), Example({}, [torch.zeros(2**20)])
    assert limit_examples([small, large, small]) == [small]


def test_a_part_that_is_not_what_was_compared_is_not_told_to_be_wrong() -> None:
    @given(x=st.integers(2, 50))
    def test(student: Student, x: int) -> None:
        assert_equal(student.call(uphill, 0, x, 1), x, what="first")
        assert_equal(student.call(uphill, 0, x, 1), x, what="second")
        check(x == 1, "something else is wrong")

    body, student = fail(test)
    assert find_pattern_in_answers(body.kept(), body, test, student, 5.0, STUDENT_SECONDS) == Relation()


def test_an_in_process_runner_with_a_small_budget_stops_the_call(tmp_path: Path) -> None:
    (tmp_path / "sgd.py").write_text("while True:\n    pass\n")
    runner = InProcess(tmp_path, call_seconds=5.0)
    runner.set_budget(0.05)
    with pytest.raises(TimedOut, match="no answer within 1 seconds"):
        runner.run_probe(lambda assignment: assignment.sgd, [])
    with pytest.raises(TimedOut, match="no time left"):
        runner.run_probe(lambda _: 1, [])
    runner.reset("sgd")
    assert runner.run_probe(lambda _: 1, []).value == 1


def test_a_budget_of_a_worker_runner_is_spent_from_the_tests_time() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        runner = WorkerRunner(ours, course().limits)
        runner.open({}, 1.0)
        runner.reset("sgd")
        runner.set_budget(0.5)
        assert runner.test_left == 0.5
        runner.test_left = 0.1
        runner.set_budget(0.5)
        assert runner.test_left == 0.1, "nothing is given back"
