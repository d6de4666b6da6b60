"""pytest plugin that searches for the known mistake that explains a failed test, or for a pattern in its answers.

While a test runs, its inputs and the student's answers are recorded. After a failure, the test's body runs again on the
recorded answers, once for each known mistake in place of the oracle. If it passes with exactly one of them, the message
says "looks like: …". If it passes with none, `diagnosis/rerun.py` looks for a pattern.

The search affects neither the inputs nor the verdict of a test, and its errors never end a test.
"""

import inspect
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TypeVar

import pytest

from torchkata.compare.assertions import watcher
from torchkata.compare.equality import same
from torchkata.course import course
from torchkata.diagnosis.broken_tests import find_broken_test, make_endless_error
from torchkata.diagnosis.explain import UNDECIDED, unwrap_group
from torchkata.diagnosis.missing_return import find_missing_return
from torchkata.diagnosis.mistakes import KnownMistake, load_mistakes, patched_oracle
from torchkata.diagnosis.recording import Example, NotRecorded, RecordedBody, ReplayingStudent, record_body
from torchkata.diagnosis.relations import Relation
from torchkata.diagnosis.rerun import find_pattern, limit_examples
from torchkata.diagnosis.uninitialized import depends_on_memory
from torchkata.i18n import _
from torchkata.inside.reply import Probe, format_error
from torchkata.inside.values import Plain, is_tensor
from torchkata.seam.failures import AbortTest, BrokenTest, Crashed, Endless, Wrong
from torchkata.seam.student import Call, Student, is_secret
from torchkata.seam.time_limits import limit_processor_time
from torchkata.streams import open_nothing

from .run_state import get_state
from .selection import find_kata, find_test

T = TypeVar("T")

NOTHING = open_nothing()  # stays open, because threads of student code may still print to it
EXPLAINED_BY = pytest.StashKey[list[str]]()
RAISED = pytest.StashKey[dict[str, str]]()  # the first error of each known mistake, by its message
MISSING_RETURN = pytest.StashKey[str]()  # a sentence about a function that returned nothing

SHARE = 0.5  # share of the test's duration that the search may take
GRACE = 0.5  # CPU time for the last run: it is interrupted only if it hangs
MIN_SECONDS = 2.0  # CPU time that the search may always take: twice as much as the slowest one used on busy cores
STUDENT_SECONDS = 2.0  # time limit for further calls of the student's code
TRACED = 5.0  # a call may take as many times the test's duration while its returns are traced
PROOF_SECONDS = 60.0  # all limits in `grader certify`, so that its findings do not depend on the machine's load
MAX_REPEATS = 20  # number of times to repeat a call to find out whether its result is random
MAX_FURTHER = 30  # number of random examples in addition to the recorded examples
QUICK_FURTHER = 6  # number of additional examples that suffice if one mistake is left and no more can be tried


class OutOfTime(BaseException):
    """Raised when the time limit of the search is exceeded."""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Record a test of a kata and, if it fails, explain the failure."""
    kata, state = find_kata(pyfuncitem.path), get_state(pyfuncitem.config)
    if kata is None or "student" not in pyfuncitem.funcargs:
        return (yield)
    pyfuncitem.stash[EXPLAINED_BY], pyfuncitem.stash[RAISED] = [], {}
    pyfuncitem.stash[MISSING_RETURN] = ""
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
        state.student.last = getattr(cause, "last_call", None) or state.student.last
        if not isinstance(cause, (Crashed, Wrong)) and (kata, find_test(pyfuncitem)) not in state.sound:
            if kata in state.unchecked:  # the grader runs this test again when it knows whether it is sound
                raise BrokenTest(format_error(cause), []) from None
            broken = None
            with suppress(OutOfTime), ignore_warnings(), limit_search_time(STUDENT_SECONDS):
                broken = find_broken_test(cause, body, state.student.last)
            if broken is not None:
                raise broken from None
            cause.add_note(UNDECIDED)
        if not isinstance(cause, AbortTest):
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
    """Store in `item` the known mistakes that explain the answers. If there are none, store a pattern in `cause`."""
    state = get_state(item.config)
    if state.student.last is not None and is_secret(state.student.last.probe):
        return
    seconds = student_seconds = PROOF_SECONDS
    if item.config.getoption("--hypothesis-profile") != "prove":
        seconds = max(MIN_SECONDS, SHARE * duration)
        student_seconds = min(STUDENT_SECONDS, seconds)
    traced = max(student_seconds, TRACED * duration)
    if silent := ask(state.student, traced, find_missing_return, ""):
        item.stash[MISSING_RETURN] = _("nothing is returned: is a `return` missing in `{function}`?", function=silent)
    if silent or isinstance(cause, Crashed):
        return
    kept = limit_examples(body.kept())
    if isinstance(cause, Wrong) and ask(state.student, student_seconds, depends_on_memory, otherwise=False):
        cause.mistake = _("uninitialized memory is read, for example from torch.empty (the tests fill it with NaN)")
        return
    enough = QUICK_FURTHER if state.is_quick_proof else MAX_FURTHER
    known, raised = load_known_mistakes(kata), item.stash[RAISED]
    found = find_mistakes(known, body, test, state.student, seconds, student_seconds, enough, raised)
    item.stash[EXPLAINED_BY] = found
    if len(found) == 1 or not isinstance(cause, Wrong) or state.is_quick_proof:
        return
    may_be_random = not (found or cause.mistake) and course().katas[kata].numeric and compares_tensors(body, kept)
    if may_be_random and ask(state.student, student_seconds, is_random, otherwise=False):
        cause.mistake = _(
            "the same call returns a different result each time: something in it is random or remembers "
            "earlier calls, such as dropout, noise, a drawn token, new initial weights, the order of a set or a cache"
        )
    else:
        pattern = find_pattern_in_answers(kept, body, test, state.student, seconds, student_seconds)
        if pattern.is_rule and not cause.mistake:
            cause.mistake = pattern.sentence
        else:
            cause.relation = pattern.sentence


def ask(student: Student, seconds: float, question: Callable[[Call, Student], T], otherwise: T) -> T:
    """Return the answer to a question that makes the last call again, or `otherwise`. Never raises an exception."""
    try:
        student.runner.set_budget(seconds)
        return question(student.last, SilencedStudent(student.runner)) if student.last is not None else otherwise
    except (Exception, AbortTest):
        return otherwise


def compares_tensors(body: RecordedBody, kept: Sequence[Example]) -> bool:
    """Return whether a tensor was expected where the smallest input failed. Never raises an exception."""
    compared: list[Plain] = []
    before = watcher.set(lambda _yours, expected, _what, _right: compared.append(expected))
    try:
        with suppress(Exception, SystemExit):
            body.body(**kept[0].given, student=ReplayingStudent(kept[0]))
    finally:
        watcher.reset(before)
    return any(map(is_tensor, compared[-1:]))


def is_random(call: Call, student: Student) -> bool:
    """Return whether the answer changes if a call is repeated."""
    return not all(same(student.call(call.probe, *call.args), call.answer) for _ in range(MAX_REPEATS))


def load_known_mistakes(kata: str) -> tuple[KnownMistake, ...]:
    """Return the known mistakes of a kata, or an empty tuple if the file that defines them can't be loaded."""
    try:
        return load_mistakes(kata)
    except Exception:
        return ()


def find_mistakes(
    known: Sequence[KnownMistake],
    body: RecordedBody,
    test: Any,
    student: Student,
    seconds: float,
    student_seconds: float,
    enough: int = MAX_FURTHER,
    raised: dict[str, str] | None = None,
) -> list[str]:
    """Return the messages of all mistakes that explain every answer. Never raises an exception.

    Args:
        known: The mistakes to try.
        body: The test's body with its recorded examples.
        test: The test, which draws further examples if it is a property.
        student: The student's code, which answers further examples.
        seconds: The CPU time limit for running the test's body with the mistakes.
        student_seconds: The time limit for the student's code.
        enough: The number of further examples after which the search ends if only one mistake is left.
        raised: Where to store the first error of each mistake, by its message.
    """
    try:
        student.runner.set_budget(student_seconds)
        with closing(Search(body, test, SilencedStudent(student.runner), seconds, enough, raised)) as search:
            return [mistake.message for mistake in search.narrow_down(known)]
    except (Exception, AbortTest, OutOfTime):
        return []


def find_pattern_in_answers(
    kept: Sequence[Example], body: RecordedBody, test: Any, student: Student, seconds: float, student_seconds: float
) -> Relation:
    """Return a pattern in the recorded and further answers, or an empty one if there is none. Never raises."""
    try:
        student.runner.set_budget(student_seconds)
        is_property = hasattr(test, "hypothesis")
        further = [*body.more(test, SilencedStudent(student.runner), MAX_FURTHER)] if is_property else []
        with ignore_warnings(), limit_search_time(seconds):
            return find_pattern(body.body, limit_examples([*kept, *further]))
    except (Exception, AbortTest, OutOfTime):
        return Relation()


class SilencedStudent(Student):
    """A student for calls outside of the test. It discards what the code prints."""

    def call(self, probe: Probe | str, *args: object) -> Any:
        """Call the student and discard any output."""
        with redirect_stdout(NOTHING), redirect_stderr(NOTHING):
            return super().call(probe, *args)


class Search:
    """Runs the body of a test on its examples with known mistakes in the oracle, within a limit of CPU time."""

    def __init__(
        self,
        body: RecordedBody,
        test: Any,
        student: Student,
        seconds: float,
        enough: int,
        raised: dict[str, str] | None,
    ) -> None:
        self.body = body
        self.student = student
        self.raised = {} if raised is None else raised
        self.seen = body.kept()
        self.further = body.more(test, student, MAX_FURTHER) if hasattr(test, "hypothesis") else iter(())
        self.enough = len(self.seen) + enough
        self.end = time.thread_time() + seconds

    def close(self) -> None:
        """Stop drawing further examples. Hypothesis regards a test as running until this is called."""
        if isinstance(self.further, Generator):
            self.further.close()

    def examples(self) -> Iterator[Example]:
        """Yield the recorded examples, smallest first, then random ones until the student's time limit is reached."""
        yield from [*self.seen]
        for example in self.further:
            self.seen.append(example)
            yield example

    def narrow_down(self, known: Sequence[KnownMistake]) -> list[KnownMistake]:
        """Return the known mistakes that explain all examples, or all until a time limit if one is left by then."""
        left, recorded = [*known], len(self.seen)
        for count, example in enumerate(self.examples(), start=1):
            try:
                left = [mistake for mistake in left if self.explains(mistake, example)]
            except OutOfTime:
                if len(left) == 1 and count > recorded + QUICK_FURTHER:
                    break
                raise
            if not left or (len(left) == 1 and count >= self.enough):
                break
        return left

    def explains(self, mistake: KnownMistake, example: Example) -> bool:
        """Return whether the body passes on an example's recorded answers with this mistake in the oracle."""
        while True:
            left = self.end - time.thread_time()
            try:
                with patched_oracle(mistake), ignore_warnings(), limit_search_time(left, GRACE):
                    self.body.body(**example.given, student=ReplayingStudent(example))
                return True
            except NotRecorded as call:  # the test had failed before this call
                example.answers.append(self.student.call(call.probe, *call.args_given))
            except AssertionError:
                return False
            except Exception as error:
                self.raised.setdefault(mistake.message, format_error(error))
                return False


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Ignore warnings, because a mistake may compute values for which NumPy or torch issues warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def limit_search_time(seconds: float, grace: float = 0.0) -> Iterator[None]:
    """Raise OutOfTime if no time is left, or once the code in this context has used more CPU time than allowed."""
    if seconds <= 0:
        raise OutOfTime
    with limit_processor_time(seconds + grace, OutOfTime()):
        yield
