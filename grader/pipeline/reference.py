"""Runs the reference solution on the katas that a submission has not passed, in order to find broken tests.

    passed             the test is sound: if the test fails, a student's answer is the cause
    fails twice        the test is broken and waived: everybody gets its points, and the instructor is notified
    fails once         the test is broken, but nobody knows for whom: students who fail it have no result (inconclusive)
    does not end, ...  the machine may be at fault: students who fail the test are graded again (inconclusive)

Whoever passes a test needs no proof that it is sound. The solution gets the inputs of the class, on this machine, and
runs while no student code runs, so no answer can influence what is decided. Without bubblewrap, where student code can
outlive its worker, it runs before any student code.

Passed tests are recorded under a digest of the tests, solution, engine, options, seed and processor in
`$XDG_CACHE_HOME/torchkata/reference`, which is not accessible from within bubblewrap. A record can only say that a test
is sound, which gives nobody points.
"""

import contextlib
import os
import platform
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import indent

from grader.base.cachedir import cache_dir
from grader.base.signals import uninterrupted
from grader.options import GradeOptions
from grader.pipeline.collect import Tests
from grader.pipeline.job import Event, Graded, Job
from grader.pipeline.session import LOST, grade
from grader.pipeline.submission import Submission
from grader.results.dependencies import digest, digest_submission, environment
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course
from torchkata.pytest_plugin.run_state import get_state
from torchkata.result import BROKEN, TestResult

UNUSED = 30 * 86400.0  # time in seconds after which an unused record is deleted


class Checks:
    """The checks of the tests of some katas: all of them for a class, and only the necessary ones for one submission.

    They are made when the first submission has not passed a kata, and for a class at the latest after all submissions.
    """

    def __init__(
        self, katas: Sequence[Kata], tests: Tests, sandbox: Sandbox, options: GradeOptions, *, of_class: bool
    ) -> None:
        self.tests = tests
        self.sandbox = sandbox
        self.options = options
        self.of_class = of_class
        self.state = get_state(tests.config)
        self.solution = course().solutions()
        self.marks = cache_dir() / "reference"
        self.problems: list[str] = []  # a message for the instructor about each broken or doubtful test
        self.unchecked: dict[str, Kata] = {}  # keyed by name
        for kata in katas:
            mark = self.marks / name_mark(kata, self.solution, options)
            if sandbox.isolation == "bwrap" and not (options.again or options.since_ns) and refresh(mark):
                self.state.sound |= {(kata.name, name) for name in kata.points}
            elif f"{kata.name}.py" in self.solution:
                self.unchecked[kata.name] = kata
        with contextlib.suppress(OSError):
            clear_unused(self.marks)

    def grade(self, queued: Iterable[Job]) -> Generator[Event, None, None]:
        """Grade the jobs like `session.grade`, and yield a result when all tests that it depends on are checked."""
        waiting, again = iter(queued), list[Job]()
        held: list[Graded] = []

        def take() -> Iterator[Job]:
            while not held and (job := again.pop() if again else next(waiting, None)) is not None:
                yield job

        while True:
            self.state.unchecked = frozenset(self.unchecked)
            with contextlib.closing(grade(take(), self.tests, self.sandbox, self.options.jobs)) as events:
                for event in events:
                    if isinstance(event, Graded) and any(self.find_unchecked(event)):
                        held.append(event)
                    else:
                        yield event
            needed = {kata for event in held for kata in self.find_unchecked(event)}
            self.check_tests([kata for name, kata in self.unchecked.items() if self.of_class or name in needed])
            if not held:
                return
            with uninterrupted():
                for event in held:
                    if self.is_settled(event, needed):
                        yield event
                    else:
                        again.append(replace(event.job, reusable={}))  # what is stored may be due to a broken test
            held.clear()

    def find_unchecked(self, event: Graded) -> Iterator[str]:
        """Yield each kata that the submission has not passed although its tests have not been checked."""
        for kata in event.katas:
            if kata.kata in self.unchecked and any(test.outcome != "passed" for test in kata.tests):
                yield kata.kata

    def is_settled(self, event: Graded, checked: Set[str]) -> bool:
        """Return whether a result is right now that some tests are checked: all that it did not pass are sound."""
        missed = [
            (which, test) for which, test in list_tests(event) if which[0] in checked and test.outcome != "passed"
        ]
        return all(which in self.state.sound and not test.cause.startswith(BROKEN) for which, test in missed)

    def check_tests(self, katas: Sequence[Kata], take: Callable[[Event], None] = lambda _: None) -> None:
        """Find out which tests of these katas are sound, broken or doubtful."""
        known = frozenset(course().katas) & {name.removesuffix(".py") for name in self.solution}
        submission, seed = Submission("the reference solution", self.solution), self.options.seed
        jobs = [Job(submission, (kata,), seed, known_good=known, for_instructor=True) for kata in katas]
        for kata in katas:
            del self.unchecked[kata.name]
        self.state.unchecked = frozenset(self.unchecked)
        tests, jobs_at_once = self.tests, self.options.jobs
        sound: set[tuple[str, str]] = set()
        graded: dict[str, Graded] = {}
        for event in grade(jobs, tests, self.sandbox, jobs_at_once):
            take(event)
            if isinstance(event, Graded):
                graded[event.job.katas[0].name] = event
        unsettled = [event.job for event in graded.values() if event.katas[0].status not in ("done", "not_started")]
        second = [event for event in grade(unsettled, tests, self.sandbox, jobs_at_once) if isinstance(event, Graded)]
        failed_once = {which for event in graded.values() for which, test in list_tests(event) if is_broken(test)}
        failures = {which: text for event in (*graded.values(), *second) for which, text in list_failures(event)}
        for event in (graded | {event.job.katas[0].name: event for event in second}).values():
            for which, test in list_tests(event):
                if is_broken(test) and which in failed_once:
                    tests.broken.add(which)
                elif which in failed_once or test.outcome not in ("passed", "not_started"):
                    tests.doubtful[which] = BROKEN if which in failed_once or is_broken(test) else ""
                elif test.outcome == "passed":
                    sound.add(which)
            if event.katas[0].status == "done" and failures.keys().isdisjoint(which for which, _ in list_tests(event)):
                mark = self.marks / name_mark(event.job.katas[0], self.solution, self.options)
                record_sound_kata(mark, self.sandbox)
        self.state.sound |= sound
        self.problems += [
            describe_problem(*which, text, tests) for which, text in failures.items() if which not in sound
        ]


def refresh(mark: Path) -> bool:
    """Mark a record as used, and return whether it exists and is ours."""
    with contextlib.suppress(OSError):
        if mark.exists():
            mark.touch()
            return True
    return False


def record_sound_kata(mark: Path, sandbox: Sandbox) -> None:
    """Record that the reference solution passes all tests of a kata, unless its code could write the record, too."""
    if sandbox.isolation == "bwrap":
        with contextlib.suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            mark.touch()


def list_tests(event: Graded) -> Iterator[tuple[tuple[str, str], TestResult]]:
    """Yield (kata, name) and the result of each test."""
    return (((kata.kata, test.name), test) for kata in event.katas for test in kata.tests)


def clear_unused(marks: Path) -> None:
    """Delete records that have not been used for a month. Raises OSError if one can't be deleted."""
    for mark in marks.iterdir():
        if time.time() - mark.stat().st_mtime > UNUSED:
            mark.unlink(missing_ok=True)


def find_missing_solutions(katas: Sequence[Kata]) -> Iterator[Path]:
    """Yield the path of each missing reference solution, or nothing if the course has no solutions at all."""
    if course().solutions():
        yield from (path for kata in katas if not (path := course().solution(kata.name)).is_file())


def is_broken(test: TestResult) -> bool:
    """Return whether the result of the reference solution shows that the test is at fault rather than the machine."""
    return test.cause.startswith(BROKEN) or (test.outcome in ("failed", "crashed") and test.cause != LOST.cause)


def list_failures(event: Graded) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield (kata, name) and a text for the instructor of each test that the reference solution did not pass."""
    for which, test in list_tests(event):
        if test.outcome != "passed":
            yield which, event.traces.get(which, test.message)


def describe_problem(kata: str, name: str, text: str, tests: Tests) -> str:
    """Return a message for the instructor about a test that the reference solution did not pass."""
    cause = tests.doubtful.get((kata, name))
    if (kata, name) in tests.broken:
        what = "fails with the reference solution, so everybody gets its points"
    elif cause is None:
        return f"reference/{kata}/solution.py is not written yet, so {name} was not checked"
    else:
        fails = "fails at times" if cause else "can't be graded"
        what = f"{fails} with the reference solution, so students who fail it get no result"
    return f"tests/test_{kata}.py: {name} {what}\n{indent(text, '  ')}"


def name_mark(kata: Kata, solution: dict[str, bytes], options: GradeOptions) -> str:
    """Return the name of the file whose existence means that the reference solution passes all tests of a kata."""
    machine = (sorted(environment().items()), describe_processor())
    judge = options.digest_judge(kata.name)
    return f"{kata.name}-{digest([*kata.points], judge, digest_submission(solution), machine)}"


@cache
def describe_processor() -> list[str]:
    """Return what decides which instructions torch and NumPy use, as far as the system tells."""
    told = [f"ATEN_CPU_CAPABILITY={os.environ.get('ATEN_CPU_CAPABILITY', '')}", platform.machine()]
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8", errors="replace").partition("\n\n")[0].splitlines()
        told += [line for line in lines if line.startswith(("model name", "flags", "Features"))]
    return told
