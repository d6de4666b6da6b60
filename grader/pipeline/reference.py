"""Runs the reference solution before a class is graded, in order to find broken tests.

    passed             the test is sound: if the test fails later, a student's answer is the cause
    fails twice        the test is broken and waived: everybody gets its points, and the instructor is notified
    fails once         the test is broken, but nobody knows for whom: students who fail it have no result (inconclusive)
    does not end, ...  the machine may be at fault: students who fail the test are graded again (inconclusive)

This is decided before any student code runs, so no answer can influence it. Passed tests are recorded under a digest of
the tests, solution, engine and options in `$XDG_CACHE_HOME/torchkata/reference`, which is not accessible from within
bubblewrap.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import indent

from grader.base.cachedir import cache_dir
from grader.options import GradeOptions
from grader.pipeline.collect import Tests
from grader.pipeline.job import Event, Graded, Job
from grader.pipeline.session import LOST, grade
from grader.pipeline.submission import Submission
from grader.results.dependencies import digest, digest_submission
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course
from torchkata.pytest_plugin.run_state import get_state
from torchkata.result import BROKEN, TestResult

UNUSED = 30 * 86400.0  # time in seconds after which an unused record is deleted


def check_tests(
    katas: Sequence[Kata], tests: Tests, sandbox: Sandbox, options: GradeOptions, take: Callable[[Event], None]
) -> list[str]:
    """Record which `tests` are sound, broken or doubtful.

    Return a message for the instructor about each broken or doubtful test.
    """
    solution, marks = course().solutions(), cache_dir() / "reference"
    known = frozenset(course().katas) & {name.removesuffix(".py") for name in solution}
    jobs: list[Job] = []
    sound: set[tuple[str, str]] = set()
    for kata in katas:
        if kata.name not in known:
            continue
        mark = marks / name_mark(kata, solution, options)
        if sandbox.isolation == "bwrap" and mark.exists():
            mark.touch()
            sound |= {(kata.name, name) for name in kata.points}
        else:
            submission = Submission("the reference solution", solution)
            jobs.append(Job(submission, (kata,), options.seed, known_good=known, for_instructor=True))
    with contextlib.suppress(OSError):
        clear_unused(marks)
    graded: dict[str, Graded] = {}
    for event in grade(jobs, tests, sandbox, options.jobs):
        take(event)
        if isinstance(event, Graded):
            graded[event.job.katas[0].name] = event
    unsettled = [event.job for event in graded.values() if event.katas[0].status not in ("done", "not_started")]
    second = [event for event in grade(unsettled, tests, sandbox, options.jobs) if isinstance(event, Graded)]
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
            record_sound_kata(marks / name_mark(event.job.katas[0], solution, options), sandbox)
    get_state(tests.config).sound = frozenset(sound)
    return [describe_problem(*which, text, tests) for which, text in failures.items() if which not in sound]


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
    return f"{kata.name}-{digest([*kata.points], options.digest_judge(kata.name), digest_submission(solution))}"
