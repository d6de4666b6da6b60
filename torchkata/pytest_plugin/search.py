"""pytest plugin that searches for the known mistake that explains a failed test, or for a pattern in its answers.

While a test runs, its inputs and the student's answers are recorded. After a failure, the body of the test is run again
on the recorded answers, once for each known mistake, which then replaces the oracle. If the body passes with exactly
one of the mistakes, the message says "looks like: …". If no mistake is found, `diagnosis/rerun.py` searches for a
pattern.

The search affects neither the inputs nor the verdict of a test, and its errors never end a test.
"""

import inspect
import io
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

import pytest

from torchkata.diagnosis.broken_tests import find_broken_test, make_endless_error
from torchkata.diagnosis.explain import UNDECIDED, unwrap_group
from torchkata.diagnosis.mistakes import KnownMistake, load_mistakes, patched_oracle
from torchkata.diagnosis.recording import Example, NotRecorded, RecordedBody, ReplayingStudent, record_body
from torchkata.diagnosis.relations import Relation
from torchkata.diagnosis.rerun import find_pattern, limit_examples
from torchkata.seam.failures import AbortTest, Crashed, Endless, Wrong
from torchkata.seam.reply import Probe
from torchkata.seam.student import Student, limit_processor_time

from .run_state import get_state
from .selection import find_kata

EXPLAINED_BY = pytest.StashKey[list[str]]()

SHARE = 0.5  # maximum duration of the search, as a fraction of the duration of the test
MIN_SECONDS = 0.5  # CPU time that the search may use in any case
STUDENT_SECONDS = 2.0  # time limit for additional calls of the student's code
PROOF_SECONDS = 60.0  # replaces both limits in `grader certify`, so that its findings do not depend on machine load
MAX_FURTHER = 30  # number of random examples to use in addition to the recorded ones
QUICK_FURTHER = 6  # the same for a quick proof, once only one mistake is left


class OutOfTime(BaseException):
    """Raised when the time limit of the search is exceeded."""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Record a test of a kata, and explain its failure."""
    kata, state = find_kata(pyfuncitem.path), get_state(pyfuncitem.config)
    if kata is None or "student" not in pyfuncitem.funcargs:
        return (yield)
    pyfuncitem.stash[EXPLAINED_BY] = []
    body, test = record_body(pyfuncitem), pyfuncitem.obj
    taken = inspect.signature(body.body).parameters
    body.begin({name: value for name, value in pyfuncitem.funcargs.items() if name in taken})
    if not hasattr(test, "hypothesis"):
        pyfuncitem.obj = body.__call__
    began = time.monotonic()
    try:
        return (yield)
    except (Exception, SystemExit) as error:
        cause = unwrap_group(error)
        if not isinstance(cause, (Crashed, Wrong)) and (kata, pyfuncitem.name) not in state.sound:
            broken = None
            with suppress(OutOfTime), ignore_warnings(), limit_search_time(STUDENT_SECONDS):
                broken = find_broken_test(cause, body, state.student.last)
            if broken is not None:
                raise broken from None
            cause.add_note(UNDECIDED)
        if not isinstance(cause, (Crashed, AbortTest)):
            explain_answers(pyfuncitem, kata, cause, body, test, time.monotonic() - began)
        raise
    except Endless as error:
        if state.is_seed_secret:  # the grader has another way to decide whether the test or the code is too slow
            raise
        raise make_endless_error(error) from None
    finally:
        pyfuncitem.obj = test
        body.begin({})


def explain_answers(
    item: pytest.Function, kata: str, cause: BaseException, body: RecordedBody, test: Any, duration: float
) -> None:
    """Store the known mistakes that explain the answers in `item`, or a pattern in `cause` if there are none."""
    state = get_state(item.config)
    seconds = student_seconds = PROOF_SECONDS
    if item.config.getoption("--hypothesis-profile") != "prove":
        seconds = max(MIN_SECONDS, SHARE * duration)
        student_seconds = min(STUDENT_SECONDS, seconds)
    kept = limit_examples(body.kept())
    enough = QUICK_FURTHER if state.is_quick_proof else MAX_FURTHER
    known = load_known_mistakes(kata)
    found = find_mistakes(known, body, test, state.student, seconds, student_seconds, enough)
    item.stash[EXPLAINED_BY] = found
    if len(found) != 1 and isinstance(cause, Wrong) and not state.is_quick_proof:
        pattern = find_pattern_in_answers(kept, body, test, state.student, seconds, student_seconds)
        if pattern.is_rule and not cause.mistake:
            cause.mistake = pattern.sentence
        else:
            cause.relation = pattern.sentence


def load_known_mistakes(kata: str) -> tuple[KnownMistake, ...]:
    """Return the known mistakes of a kata, or none if the file that defines them cannot be loaded."""
    try:
        return load_mistakes(kata)
    except Exception:
        return ()


def find_mistakes(
    known: Iterable[KnownMistake],
    body: RecordedBody,
    test: Any,
    student: Student,
    seconds: float,
    student_seconds: float,
    enough: int = MAX_FURTHER,
) -> list[str]:
    """Return the messages of the mistakes that explain all answers. Never raises an exception.

    Args:
        known: The mistakes to try.
        body: The test's body with its recorded examples.
        test: The test. If it is a property, additional examples are drawn from it.
        student: The student, who answers the additional examples.
        seconds: The CPU time limit for running the mistakes.
        student_seconds: The time limit for the student's code.
        enough: The number of additional examples that are sufficient once only one mistake is left.
    """
    try:
        student.runner.set_budget(student_seconds)
        search = Search(body, SilencedStudent(student.runner), seconds)
        possible = list(known)
        for example in search.examples(test):
            possible = [mistake for mistake in possible if search.explains(mistake, example)]
            if not possible or (len(possible) == 1 and search.asked >= enough):
                break
        return [mistake.message for mistake in possible]
    except (Exception, AbortTest, OutOfTime):
        return []


def find_pattern_in_answers(
    kept: Sequence[Example], body: RecordedBody, test: Any, student: Student, seconds: float, student_seconds: float
) -> Relation:
    """Return a pattern in the recorded and additional answers, or an empty pattern. Never raises an exception."""
    try:
        student.runner.set_budget(student_seconds)
        is_property = hasattr(test, "hypothesis")
        further = [*body.more(test, SilencedStudent(student.runner), MAX_FURTHER)] if is_property else []
        with ignore_warnings(), limit_search_time(seconds):
            return find_pattern(body.body, limit_examples([*kept, *further]))
    except (Exception, AbortTest, OutOfTime):
        return Relation()


class SilencedStudent(Student):
    """A student for calls outside of the test. Printed output is discarded."""

    def call(self, probe: Probe | str, *args: object) -> Any:
        """Call the student and discard any output."""
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return super().call(probe, *args)


class Search:
    """Runs the body of a test on its examples, with a limited CPU time."""

    def __init__(self, body: RecordedBody, student: Student, seconds: float) -> None:
        self.body = body
        self.student = student
        self.asked = 0  # number of additional examples
        self.end = time.thread_time() + seconds

    def examples(self, test: Any) -> Iterator[Example]:
        """Yield the recorded examples, smallest first, and then random examples until the student's time is used up."""
        yield from self.body.kept()
        if hasattr(test, "hypothesis"):
            for example in self.body.more(test, self.student, MAX_FURTHER):
                self.asked += 1
                yield example

    def explains(self, mistake: KnownMistake, example: Example) -> bool:
        """Return whether the body passes on the recorded answers if the oracle makes this mistake."""
        while True:
            try:
                with patched_oracle(mistake), ignore_warnings(), limit_search_time(self.end - time.thread_time()):
                    self.body.body(**example.given, student=ReplayingStudent(example.answers))
                return True
            except NotRecorded as call:  # the original run failed before this call
                example.answers.append(self.student.call(call.probe, *call.args_given))
            except Exception:
                return False


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Ignore warnings, because a mistake may compute values for which NumPy or torch issues warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def limit_search_time(seconds: float) -> Iterator[None]:
    """Raise OutOfTime if the code in this context uses more CPU time than this, or immediately if no time is left."""
    if seconds <= 0:
        raise OutOfTime
    with limit_processor_time(seconds, OutOfTime()):
        yield
