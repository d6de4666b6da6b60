"""Inputs drawn ahead are the ones that Hypothesis would draw."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from socket import socket
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, assume, core, example, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal import entropy
from hypothesis.utils.threading import ThreadLocal

from grader.base.signals import uninterrupted
from grader.pipeline.inputs import SharedInputs
from grader.pipeline.job import Job
from grader.pipeline.session import start
from grader.pipeline.submission import Submission
from grader.results.result import KataResult
from grader.tests import ROOT
from torchkata.compat.hypothesis_internals import get_settings, limit_examples, register_random_generators
from torchkata.course import course
from torchkata.pytest_plugin.first_pass import Inputs, NewInputs, pytest_pyfunc_call
from torchkata.pytest_plugin.run_state import STATE, RunState, get_state
from torchkata.seam.failures import NotStarted, Place, TimedOut
from torchkata.seam.reply import Probe, Reply, run_probe
from torchkata.seam.student import Student
from torchkata.seam.values import Plain


class Counting:
    """A student's runner that counts its calls, and answers as a probe does."""

    def __init__(self) -> None:
        self.calls: list[Sequence[Plain]] = []
        self.resets = 0

    def reset(self, kata: str) -> None:
        """Nothing to import."""

    def start_over(self, kata: str) -> None:  # noqa: ARG002  (it is a `Runner`)
        self.resets += 1

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        self.calls.append(args)
        return run_probe(SimpleNamespace(folder=Path("/nowhere"), package="x"), probe, args)  # type: ignore[arg-type]

    def set_budget(self, seconds: float) -> None:
        pass


def echo(_assignment: object, value: int) -> int:
    return value


def item_of(test: Any, inputs: Inputs | None, runner: Counting) -> Any:
    """A collected test, as far as the first pass looks at it."""
    state = RunState(inputs=inputs)
    state.student, state.seed = Student(runner), 3
    return SimpleNamespace(
        obj=test,
        name=test.__name__,
        cls=None,
        path=ROOT / "tests/test_linear.py",
        funcargs={"student": state.student, "of": "another test"},
        config=SimpleNamespace(stash={STATE: state}),
    )


def asked_by_hypothesis(test: Any) -> list[Sequence[Plain]]:
    """The calls that the same test makes without a first pass."""
    runner = Counting()
    test(student=Student(runner))
    return runner.calls


QUIET = settings(max_examples=40, database=None, deadline=None)


@seed(3)
@QUIET
@given(st.integers(0, 50), st.lists(st.integers(0, 3), max_size=3))
def right(student: Student, number: int, rest: list[int]) -> None:
    assert student.call(echo, number + len(rest)) == number + len(rest)


@seed(3)
@QUIET
@given(st.integers(0, 50))
def wrong(student: Student, number: int) -> None:
    assert student.call(echo, number) < 20


@seed(3)
@QUIET
@given(st.integers(0, 50))
def discarding(student: Student, number: int) -> None:
    assume(student.call(echo, number) % 2 == 0)


@seed(3)
@QUIET
@given(st.data())
def interactive(student: Student, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, 50))
    assert student.call(echo, number) == number


@seed(3)
@QUIET
@example(number=77)
@given(st.integers(0, 50))
def with_an_example(student: Student, number: int) -> None:
    assert student.call(echo, number) == number


@seed(3)
@QUIET
@given(st.tuples(st.integers(0, 50), st.data()))
def interactive_within(student: Student, pair: tuple[int, st.DataObject]) -> None:
    number = student.call(echo, pair[0])
    assert pair[1].draw(st.integers(number, 60)) >= number


PASSING = [right, discarding, interactive, interactive_within, with_an_example]


@pytest.mark.parametrize("test", PASSING, ids=lambda test: test.__name__)
def test_drawn_inputs_are_those_of_hypothesis(test: Any) -> None:
    runner, inputs = Counting(), SharedInputs()
    for _ in range(2):
        runner.calls.clear()
        assert pytest_pyfunc_call(item_of(test, inputs, runner))
        asked = asked_by_hypothesis(test)
        assert runner.calls[-len(asked) :] == asked
        assert len(runner.calls) == len(asked) or test in (discarding, interactive_within)


def test_shrunk_failure_is_found_by_hypothesis() -> None:
    for inputs in (SharedInputs(), NewInputs()):
        runner = Counting()
        item = item_of(wrong, inputs, runner)
        with pytest.raises(AssertionError):
            pytest_pyfunc_call(item)
        assert runner.resets == 1, "the code begins anew before Hypothesis runs"
        assert item.config.stash[STATE].student.last.args == [20], "and the failure was made small"


def test_code_that_fails_once_and_then_passes_has_failed() -> None:
    class Fickle(Counting):
        def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
            return super().run_probe(probe, args) if self.resets == 0 else Reply("returned", 0)

    for inputs in (SharedInputs(), NewInputs()):
        item = item_of(wrong, inputs, Fickle())
        with pytest.raises(AssertionError):
            pytest_pyfunc_call(item)
        assert item.config.stash[STATE].student.last.args[0] >= 20, "what is told is the input that it failed on"


@pytest.mark.parametrize("stop", [NotStarted(Place()), TimedOut("late")], ids=lambda stop: type(stop).__name__)
def test_unstarted_or_late_test_runs_once(stop: BaseException) -> None:
    class Stopping(Counting):
        def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:  # noqa: ARG002  (it is a `Runner`)
            self.calls.append(args)
            raise stop

    runner = Stopping()
    with pytest.raises(type(stop)):
        pytest_pyfunc_call(item_of(right, SharedInputs(), runner))
    assert len(runner.calls) == 1
    assert runner.resets == 0


@pytest.mark.parametrize("test", [right, interactive], ids=lambda test: test.__name__)
def test_new_inputs_need_no_hypothesis_engine_even_where_the_body_draws_more(test: Any) -> None:
    runner = Counting()
    assert pytest_pyfunc_call(item_of(test, NewInputs(), runner))
    assert len(runner.calls) == 40
    assert runner.resets == 0


def test_new_inputs_follow_the_seed_and_begin_with_the_simplest() -> None:
    calls = []
    for number in (3, 3, 4):
        runner = Counting()
        item = item_of(right, NewInputs(), runner)
        get_state(item.config).seed = number
        assert pytest_pyfunc_call(item)
        calls.append(runner.calls)
    assert calls[0] == calls[1] != calls[2]
    assert calls[0][0] == [0]
    assert len(calls[0]) == 40


def test_inputs_are_drawn_once_for_all_submissions() -> None:
    drawn_numbers: list[int] = []

    def note(number: int) -> int:
        drawn_numbers.append(number)
        return number

    @QUIET
    @given(st.integers(0, 50).map(note))
    def test_numbers(student: Student, number: int) -> None:
        student.call(echo, number)

    inputs = SharedInputs()
    for _ in range(3):
        assert pytest_pyfunc_call(item_of(test_numbers, inputs, Counting()))
    assert len(drawn_numbers) == 40


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ({}, [40]),
        ({"few_examples": True}, [10]),
        ({"expect_failure": True}, []),
        ({"reusable": {"linear": KataResult}}, []),
    ],
    ids=["all", "few", "fails", "kept"],
)
def test_inputs_that_a_job_needs_precede_the_fork(
    options: dict[str, Any], counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = SharedInputs()
    at_fork: list[int] = []

    def fork() -> int:
        at_fork.extend(len(drawn or ()) for _, drawn in inputs.drawn.values())
        return 1

    monkeypatch.setattr("grader.pipeline.session.os.fork", fork)
    monkeypatch.setattr("grader.pipeline.session.demand_forkable", lambda: None)
    item = item_of(right, inputs, Counting())
    kata = replace(course().katas["linear"], points={"right": 1.0})
    tests: Any = SimpleNamespace(config=item.config, items={"linear": {"right": item}}, examples=40)
    with uninterrupted(), socket() as control:
        start(Job(Submission("ada", {}), (kata,), 3, **options), tests, control).results.close()
    assert at_fork == counts
    assert get_settings(right).max_examples == 40


def test_error_of_a_strategy_is_left_to_the_test() -> None:
    def refuse(_number: int) -> NoReturn:
        raise ValueError("a bug in the strategy")

    @QUIET
    @given(st.integers(0, 50).map(refuse))
    def test_numbers(student: Student, number: int) -> None:
        student.call(echo, number)

    item = item_of(test_numbers, None, Counting())
    assert SharedInputs().draw(item, 3) is None
    with pytest.raises(ValueError, match="a bug in the strategy"):
        test_numbers(student=item.funcargs["student"])


@seed(3)
@settings(QUIET, max_examples=1)
@given(st.integers(0, 50).filter(lambda number: number > 10))
def never_the_simplest(student: Student, number: int) -> None:
    assert student.call(echo, number) == number


def test_a_strategy_that_rejects_the_simplest_input_is_drawn_from_again() -> None:
    runner = Counting()
    assert pytest_pyfunc_call(item_of(never_the_simplest, NewInputs(), runner))
    assert len(runner.calls) == 1


@seed(3)
@settings(QUIET, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 50).filter(lambda number: number > 50))
def impossible(student: Student, number: int) -> None:
    assert student.call(echo, number) == number


def test_a_test_without_any_input_does_not_pass() -> None:
    assert pytest_pyfunc_call(item_of(impossible, NewInputs(), Counting())) is None, "Hypothesis is to say so"


def test_drawn_inputs_depend_on_seed_and_examples() -> None:
    @QUIET
    @given(st.integers(0, 10**6))
    def test_numbers(student: Student, number: int) -> None:
        student.call(echo, number)

    def numbers(inputs: SharedInputs, seed: int) -> list[int]:
        return [one.given["number"] for one in inputs.draw(item, seed) or ()]

    item, inputs = item_of(test_numbers, None, Counting()), SharedInputs()
    first, other = numbers(inputs, 5), numbers(inputs, 6)
    assert first == numbers(inputs, 5) == numbers(SharedInputs(), 5) != other
    with limit_examples(test_numbers):
        assert len(numbers(inputs, 5)) == 10
    assert numbers(inputs, 5) == first
    assert len(inputs.drawn) == 1, "the inputs of one seed alone are kept"


@pytest.mark.parametrize(("all_of_them", "few"), [(100, 10), (5, 5)])
def test_a_property_takes_a_few_of_its_examples(all_of_them: int, few: int) -> None:
    drawn_numbers: list[int] = []

    @settings(max_examples=all_of_them, database=None)
    @given(number=st.integers())
    def test_numbers(number: int) -> None:
        drawn_numbers.append(number)

    with limit_examples(test_numbers):
        test_numbers()
    assert len(drawn_numbers) == few
    test_numbers()
    assert len(drawn_numbers) == few + all_of_them


def test_processes_that_are_forked_have_met_the_random_generators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "threadlocal", ThreadLocal(_hypothesis_global_random=lambda: None))  # as it begins
    register_random_generators()
    monkeypatch.setattr(entropy, "register_random", lambda _: pytest.fail("Hypothesis looks for them again"))

    @seed(0)
    @given(st.integers())
    def test_numbers(number: int) -> None:
        assert isinstance(number, int)

    test_numbers()
