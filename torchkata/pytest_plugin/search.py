"""pytest plugin: tells which known mistake wrong answers look like, or else what holds in all of them.

    the test runs   what it is given, and what the student answers, is kept
    it failed       its body runs again over what was kept, once for each mistake, made in place of the oracle
    one passes all  "looks like: …"; silent where none does, or several do
    none is named   its body runs once more, watched by `trials.py`: `relations.py` says what holds in all

Nothing of this changes how the test ends: not its inputs, not its verdict, whatever goes wrong here.
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

SHARE = 0.5  # of the time that the test took …
MIN_SECONDS = 0.5  # … but no fewer seconds, of the processor, may be spent here
STUDENT_SECONDS = 2.0  # seconds, at most, in which the student's code is asked further
PROOF_SECONDS = (
    60.0  # seconds for either, where `grader certify` proves what is said: no load of the machine may silence it
)
MAX_FURTHER = 30  # random examples, where the kept ones leave a mistake possible
QUICK_FURTHER = 6  # where one mistake is left, and an entry of the zoo is known to be that one


class OutOfTime(BaseException):
    """A mistake computes for too long."""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Record a kata's test, and look into it when it has failed."""
    kata = find_kata(pyfuncitem.path)
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
        if not isinstance(cause, (Crashed, Wrong)) and not is_sound(pyfuncitem, kata):
            broken = None
            with suppress(OutOfTime), ignore_warnings(), limit_search_time(STUDENT_SECONDS):
                broken = find_broken_test(cause, body, get_state(pyfuncitem.config).student.last)
            if broken is not None:
                raise broken from None
            cause.add_note(UNDECIDED)
        if not isinstance(cause, (Crashed, AbortTest)):
            student = get_state(pyfuncitem.config).student
            seconds, aside = PROOF_SECONDS, PROOF_SECONDS
            if pyfuncitem.config.getoption("--hypothesis-profile") != "prove":
                seconds = max(MIN_SECONDS, SHARE * (time.monotonic() - began))
                aside = min(STUDENT_SECONDS, seconds)
            kept = limit_examples(body.kept())
            quick = get_state(pyfuncitem.config).is_quick_proof
            enough = QUICK_FURTHER if quick else MAX_FURTHER
            found = find_mistakes(load_known_mistakes(kata), body, test, student, seconds, aside, enough)
            pyfuncitem.stash[EXPLAINED_BY] = found
            if len(found) != 1 and isinstance(cause, Wrong) and not quick:
                holds = find_pattern_in_answers(kept, body, test, student, seconds, aside)
                if holds.is_rule and not cause.mistake:
                    cause.mistake = holds.sentence
                else:
                    cause.relation = holds.sentence
        raise
    except Endless as error:
        if get_state(pyfuncitem.config).is_seed_secret:  # the grader has other means to tell whose mistake it is
            raise
        raise make_endless_error(error) from None
    finally:
        pyfuncitem.obj = test
        body.begin({})


def is_sound(item: pytest.Function, kata: str) -> bool:
    """Return whether the reference solution is known to pass this test."""
    return (kata, item.name) in get_state(item.config).sound


def load_known_mistakes(kata: str) -> tuple[KnownMistake, ...]:
    """The known mistakes of a kata; none where they can't even be read: no test ends because of that."""
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
    aside: float,
    enough: int = MAX_FURTHER,
) -> list[str]:
    """The sentences of the mistakes that explain every answer: of one, that is what it looks like. Raises nothing.

    The mistakes take so many seconds of processor time, and the student's code, asked further, no more than `aside`.
    No more is asked once a single mistake has explained `enough` further answers.
    """
    try:
        student.runner.set_budget(aside)
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
    kept: Sequence[Example], body: RecordedBody, test: Any, student: Student, seconds: float, aside: float
) -> Relation:
    """What holds in all answers to a failed test, those that were kept and further ones."""
    try:
        student.runner.set_budget(aside)
        further = (
            list(body.more(test, SilencedStudent(student.runner), MAX_FURTHER)) if hasattr(test, "hypothesis") else []
        )
        with ignore_warnings(), limit_search_time(seconds):
            return find_pattern(body.body, limit_examples([*kept, *further]))
    except (Exception, AbortTest, OutOfTime):
        return Relation()


class SilencedStudent(Student):
    """The same student, asked something that is not part of the test: what the code prints is lost."""

    def call(self, probe: Probe, *args: object) -> Any:
        """As `Student.call`."""
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return super().call(probe, *args)


class Search:
    """Runs a test's body over its examples, within seconds of processor time."""

    def __init__(self, body: RecordedBody, student: Student, seconds: float) -> None:
        self.body = body
        self.student = student
        self.asked = 0  # further examples
        self.end = time.thread_time() + seconds

    def examples(self, test: Any) -> Iterator[Example]:
        """Those that were kept, the smallest first, then random ones for as long as the student answers in time."""
        yield from self.body.kept()
        if hasattr(test, "hypothesis"):
            for example in self.body.more(test, self.student, MAX_FURTHER):
                self.asked += 1
                yield example

    def explains(self, mistake: KnownMistake, example: Example) -> bool:
        """Whether the body passes on these answers when the oracle makes this mistake, too."""
        while True:
            try:
                with patched_oracle(mistake), ignore_warnings(), limit_search_time(self.end - time.thread_time()):
                    self.body.body(**example.given, student=ReplayingStudent(example.answers))
                return True
            except NotRecorded as call:  # the mistake goes on where the truth had failed
                example.answers.append(self.student.call(call.probe, *call.args_given))
            except Exception:
                return False


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Leave warnings to the test itself: a mistake may compute what NumPy or torch warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def limit_search_time(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in code that computes for longer, and at once if no time is left."""
    if seconds <= 0:
        raise OutOfTime
    with limit_processor_time(seconds, OutOfTime()):
        yield
