"""Inputs drawn ahead: they are Hypothesis' own, and nobody else's are taken for ours."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, core, example, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal import entropy
from hypothesis.utils.threading import ThreadLocal

from grader.pipeline import drawn, drawn_format
from grader.pipeline.drawn import DrawnInputs, drawn_inputs
from grader.results.dependencies import digest_inputs
from grader.tests import ROOT
from torchkata.compat.hypothesis_internals import meet_random_generators, take_few
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


@pytest.mark.parametrize("test", [right, discarding, interactive, with_an_example], ids=lambda test: test.__name__)
def test_inputs_drawn_ahead_are_those_that_hypothesis_would_draw(test: Any, tmp_path: Path) -> None:
    runner = Counting()
    for _ in range(2):  # drawn, then read
        runner.calls.clear()
        item = item_of(test, DrawnInputs(tmp_path), runner)
        ahead = item.config.stash[STATE].inputs.of(item, 3)
        ended = pytest_pyfunc_call(item)
        if ended is None:
            test(student=item.funcargs["student"])
        asked = asked_by_hypothesis(test)
        assert runner.calls[-len(asked) :] == asked
        assert (ahead is None) == (test is interactive)
        assert len(runner.calls) == len(asked) or test is discarding


def test_a_failure_on_drawn_inputs_is_the_one_that_hypothesis_finds(tmp_path: Path) -> None:
    for inputs in (DrawnInputs(tmp_path), DrawnInputs(tmp_path), NewInputs()):
        runner = Counting()
        item = item_of(wrong, inputs, runner)
        with pytest.raises(AssertionError):
            pytest_pyfunc_call(item)
        assert runner.resets == 1, "the code begins anew before Hypothesis runs"
        assert item.config.stash[STATE].student.last.args == [20], "and the failure was made small"


def test_code_that_fails_once_and_then_passes_has_failed(tmp_path: Path) -> None:
    class Fickle(Counting):
        def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
            return super().run_probe(probe, args) if self.resets == 0 else Reply("returned", 0)

    for inputs in (DrawnInputs(tmp_path), NewInputs()):
        item = item_of(wrong, inputs, Fickle())
        with pytest.raises(AssertionError):
            pytest_pyfunc_call(item)
        assert item.config.stash[STATE].student.last.args[0] >= 20, "what is told is the input that it failed on"


@pytest.mark.parametrize("stop", [NotStarted(Place()), TimedOut("late")], ids=lambda stop: type(stop).__name__)
def test_a_test_that_is_not_started_or_times_out_is_not_run_again(stop: BaseException, tmp_path: Path) -> None:
    class Stopping(Counting):
        def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:  # noqa: ARG002  (it is a `Runner`)
            self.calls.append(args)
            raise stop

    runner = Stopping()
    with pytest.raises(type(stop)):
        pytest_pyfunc_call(item_of(right, DrawnInputs(tmp_path), runner))
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


def test_inputs_in_a_damaged_or_foreign_file_are_drawn_again(tmp_path: Path) -> None:
    item = item_of(right, None, Counting())
    inputs = DrawnInputs(tmp_path)
    drawn_once = inputs.given(item, 3)
    (path,) = (path for path in tmp_path.rglob("*right"))
    good = path.read_bytes()
    forged = drawn_format.encode([{"number": 0, "rest": []}])
    for bad in (b"", good[:-1], good[:40] + b"x" + good[41:], DrawnInputs(tmp_path, b"theirs").digest(forged) + forged):
        path.write_bytes(bad)
        assert inputs.given(item, 3) == drawn_once
        assert path.read_bytes() == good


def test_inputs_without_a_sandbox_are_kept_for_this_run_alone() -> None:
    item = item_of(right, None, Counting())
    with drawn_inputs(shut_in=False) as inputs:
        inputs.given(item, 3)
        (path,) = inputs.folder.rglob("*right")
        forged = drawn_format.encode([{"number": 0, "rest": []}])
        path.write_bytes(DrawnInputs(inputs.folder).digest(forged) + forged)
        assert len(inputs.given(item, 3) or []) == 40
    assert not inputs.folder.exists()


def test_inputs_are_drawn_even_where_they_cannot_be_stored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    item = item_of(right, None, Counting())
    assert len(DrawnInputs(tmp_path / "file").given(item, 3) or []) == 40


def test_drawn_inputs_are_stored_by_seed_and_number_of_examples() -> None:
    assert len({digest_inputs(0, 100), digest_inputs(1, 100), digest_inputs(0, 25)}) == 3


def test_inputs_depend_on_files_read_before_any_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(drawn, "digest_strategies", lambda: read.append("once"))
    with drawn_inputs(shut_in=False):
        assert read == ["once"]


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


def test_drawn_inputs_depend_on_the_seed_alone(tmp_path: Path) -> None:
    @QUIET
    @given(st.integers(0, 10**6))
    def test(student: Student, number: int) -> None:
        student.call(echo, number)

    item = item_of(test, None, Counting())
    seeds = [5, 5, 6]
    first, again, other = (DrawnInputs(tmp_path / str(i)).given(item, number) for i, number in enumerate(seeds))
    assert first == again != other


@pytest.mark.parametrize(("all_of_them", "few"), [(100, 10), (5, 5)])
def test_a_property_takes_a_few_of_its_examples(all_of_them: int, few: int) -> None:
    drawn_numbers: list[int] = []

    @settings(max_examples=all_of_them, database=None)
    @given(number=st.integers())
    def test_numbers(number: int) -> None:
        drawn_numbers.append(number)

    take_few(test_numbers)
    test_numbers()
    assert len(drawn_numbers) == few


def test_processes_that_are_forked_have_met_the_random_generators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "threadlocal", ThreadLocal(_hypothesis_global_random=lambda: None))  # as it begins
    meet_random_generators()
    monkeypatch.setattr(entropy, "register_random", lambda _: pytest.fail("Hypothesis looks for them again"))

    @seed(0)
    @given(st.integers())
    def test_numbers(number: int) -> None:
        assert isinstance(number, int)

    test_numbers()
