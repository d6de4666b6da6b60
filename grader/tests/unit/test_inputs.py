"""Tests of inputs drawn in advance, which must be the inputs that Hypothesis would draw."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from socket import socket
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import assume, example, given, seed, settings
from hypothesis import strategies as st

from grader.base.signals import uninterrupted
from grader.pipeline.inputs import SharedInputs
from grader.pipeline.job import Job
from grader.pipeline.session import start
from grader.pipeline.submission import Submission
from grader.results.result import KataResult
from grader.tests import ROOT
from grader.tests.support.failing_tests import LocalRunner
from torchkata.course import course
from torchkata.inside.hypothesis_internals import get_settings, limit_examples
from torchkata.inside.reply import Probe, Reply
from torchkata.inside.values import Plain
from torchkata.pytest_plugin.first_pass import NewInputs, pytest_pyfunc_call
from torchkata.pytest_plugin.inputs import Inputs
from torchkata.pytest_plugin.run_state import STATE, RunState, get_state
from torchkata.seam.failures import NotStarted, Place, TimedOut
from torchkata.seam.student import Student


class Counting(LocalRunner):
    """A runner that records its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Sequence[Plain]] = []
        self.resets = 0

    def start_over(self, kata: str) -> None:  # noqa: ARG002  (it is a `Runner`)
        self.resets += 1

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        self.asked.append(args)
        return super().run_probe(probe, args)


def echo(_assignment: object, value: int) -> int:
    return value


def make_item(test: Any, inputs: Inputs | None, runner: Counting) -> Any:
    """Return a collected test item with the attributes that the first pass reads."""
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


QUIET = settings(max_examples=40, database=None, deadline=None)
NUMBERS = st.integers(0, 50)


def sample(*strategies: st.SearchStrategy[Any], **options: Any) -> Callable[[Any], Any]:
    """Decorate a test so that it draws its inputs with a fixed seed."""
    return lambda test: seed(3)(settings(QUIET, **options)(given(*strategies)(test)))


@sample(NUMBERS, st.lists(st.integers(0, 3), max_size=3))
def right(student: Student, number: int, rest: list[int]) -> None:
    assert student.call(echo, number + len(rest)) == number + len(rest)


@sample(NUMBERS)
def wrong(student: Student, number: int) -> None:
    assert student.call(echo, number) < 20


@sample(NUMBERS)
def discarding(student: Student, number: int) -> None:
    assume(student.call(echo, number) % 2 == 0)


@sample(NUMBERS, st.data())
def interactive(student: Student, number: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, 50))
    assert student.call(echo, number) == number


@sample(st.tuples(NUMBERS, st.data()))
def interactive_within(student: Student, pair: tuple[int, st.DataObject]) -> None:
    number = student.call(echo, pair[0])
    assert pair[1].draw(st.integers(number, 60)) >= number


@sample(NUMBERS)
@example(number=77)
def with_an_example(student: Student, number: int) -> None:
    assert student.call(echo, number) == number


@pytest.mark.parametrize("test", [right, discarding, interactive, interactive_within, with_an_example])
def test_drawn_inputs_match_hypothesis(test: Any) -> None:
    runner, inputs, expected = Counting(), SharedInputs(), Counting()
    test(student=Student(expected))
    for _ in range(2):
        runner.asked.clear()
        assert pytest_pyfunc_call(make_item(test, inputs, runner))
        assert runner.asked[-len(expected.asked) :] == expected.asked
        assert len(runner.asked) == len(expected.asked) or test in (discarding, interactive_within)


@pytest.mark.parametrize("make_inputs", [SharedInputs, NewInputs])
def test_failing_example_is_shrunk_and_still_fails(make_inputs: Callable[[], Inputs]) -> None:
    class Fickle(Counting):
        def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
            return super().run_probe(probe, args) if self.resets == 0 else Reply("returned", 0)

    for runner in (Counting(), Fickle()):
        item = make_item(wrong, make_inputs(), runner)
        with pytest.raises(AssertionError):
            pytest_pyfunc_call(item)
        last = item.config.stash[STATE].student.last.args[0]
        if type(runner) is Counting:
            assert (runner.resets, last) == (1, 20), "Hypothesis starts with fresh code and shrinks the failure"
        else:
            assert last >= 20, "the input shown must be the input that failed"


@pytest.mark.parametrize("stop", [NotStarted(Place()), TimedOut("late")], ids=lambda stop: type(stop).__name__)
def test_stub_or_timeout_ends_test_after_one_call(stop: BaseException) -> None:
    runner = Mock()
    runner.run_probe.side_effect = stop
    with pytest.raises(type(stop)):
        pytest_pyfunc_call(make_item(right, SharedInputs(), runner))
    assert (runner.run_probe.call_count, runner.start_over.call_count) == (1, 0)


@pytest.mark.parametrize("test", [right, interactive])
def test_new_inputs_depend_only_on_the_seed(test: Any) -> None:
    calls = []
    for number in (3, 3, 4):
        runner = Counting()
        item = make_item(test, NewInputs(), runner)
        get_state(item.config).seed = number
        assert pytest_pyfunc_call(item)
        assert (len(runner.asked), runner.resets) == (40, 0)
        assert runner.asked[0] == [0], "the simplest input must come first"
        calls.append(runner.asked)
    assert calls[0] == calls[1] != calls[2]


@sample(st.sampled_from(range(6)), NUMBERS, st.sampled_from(range(6)))
def listed(student: Student, one: int, number: int, other: int) -> None:
    assert student.call(echo, 6 * one + other) == 6 * one + other


def test_new_inputs_contain_every_element_of_a_list() -> None:
    for number in range(20):
        runner = Counting()
        item = make_item(listed, NewInputs(), runner)
        get_state(item.config).seed = number
        assert pytest_pyfunc_call(item)
        pairs = [divmod(value, 6) for (value,) in runner.asked]
        assert [{*one} for one in zip(*pairs[1:7], strict=True)] == [{*range(6)}] * 2
        assert len({*pairs}) > 12, "the elements of two lists are drawn independently"


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
def test_inputs_of_a_job_are_drawn_before_fork(
    options: dict[str, Any], counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = SharedInputs()
    at_fork: list[int] = []

    def fork() -> int:
        at_fork.extend(len(drawn or ()) for _, drawn in inputs.drawn.values())
        return 1

    monkeypatch.setattr("grader.pipeline.session.os.fork", fork)
    monkeypatch.setattr("grader.pipeline.session.demand_no_cuda", lambda: None)
    item = make_item(right, inputs, Counting())
    kata = replace(course().katas["linear"], points={"right": 1.0})
    tests: Any = SimpleNamespace(config=item.config, items={"linear": {"right": item}}, examples=40)
    with uninterrupted(), socket() as control:
        start(Job(Submission("ada", {}), (kata,), 3, **options), tests, control).messages.close()
    assert at_fork == counts
    assert get_settings(right).max_examples == 40


def test_inputs_of_a_seed_are_drawn_once() -> None:
    drawn: list[int] = []

    def note(number: int) -> int:
        drawn.append(number)
        return number

    @QUIET
    @given(st.integers(0, 10**6).map(note))
    def test_numbers(student: Student, number: int) -> None:
        student.call(echo, number)

    def numbers(inputs: SharedInputs, seed: int) -> list[int]:
        return [one.given["number"] for one in inputs.draw(item, seed) or ()]

    item, inputs = make_item(test_numbers, None, Counting()), SharedInputs()
    first = numbers(inputs, 5)
    assert numbers(inputs, 5) == first
    assert len(drawn) == len(first) == 40, "inputs must be drawn once for all submissions"
    assert numbers(SharedInputs(), 5) == first != numbers(inputs, 6)
    with limit_examples(test_numbers):
        assert len(numbers(inputs, 5)) == 10
    assert numbers(inputs, 5) == first
    assert len(inputs.drawn) == 1, "only the inputs of one seed may be kept"
