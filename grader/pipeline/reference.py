"""Runs the reference solution before a class is graded, in order to find broken tests.

    passed         the test is sound: if the test fails later, a student's answer is the cause
    anything else  the test is broken: no student loses points because of it, and the instructor is notified

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
from grader.pipeline.collect import Tests
from grader.pipeline.job import Event, Graded, Job
from grader.pipeline.queue import Options
from grader.pipeline.session import grade
from grader.pipeline.walk import Submission
from grader.results.dependencies import digest, digest_basis, digest_kata
from grader.results.result import KataResult
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course
from torchkata.pytest_plugin.run_state import get_state
from torchkata.result import BROKEN, TestResult

UNUSED = 30 * 86400.0  # time in seconds after which an unused record is deleted


def check_tests(
    katas: Sequence[Kata], tests: Tests, sandbox: Sandbox, options: Options, take: Callable[[Event], None]
) -> list[str]:
    """Record which `tests` are sound and which are broken.

    Return a message for the instructor about each broken test.
    """
    solution, marks = course().solutions(), cache_dir() / "reference"
    known = frozenset(course().katas) & {name.removesuffix(".py") for name in solution}
    jobs: list[Job] = []
    sound: set[tuple[str, str]] = set()
    problems: list[str] = []
    for kata in katas:
        if kata.name not in known:
            continue
        mark = marks / name_mark(kata, solution, options)
        if sandbox.isolation == "bwrap" and mark.exists():
            mark.touch()
            sound |= {(kata.name, name) for name in kata.points}
        else:
            submission = Submission("the reference solution", solution)
            jobs.append(Job(submission, (kata,), options.grading.seed, known_good=known, for_instructor=True))
    with contextlib.suppress(OSError):
        clear_unused(marks)
    for event in grade(jobs, tests, sandbox, options.jobs):
        take(event)
        if isinstance(event, Graded):
            (result,) = event.katas
            sound |= {(result.kata, test.name) for test in result.tests if test.outcome == "passed"}
            tests.broken |= {(result.kata, test.name) for test in result.tests if is_broken(test)}
            problems += describe_problems(result, event.traces)
            if result.status == "done" and sandbox.isolation == "bwrap":
                with contextlib.suppress(OSError):
                    marks.mkdir(parents=True, exist_ok=True, mode=0o700)
                    (marks / name_mark(event.job.katas[0], solution, options)).touch()
    get_state(tests.config).sound = frozenset(sound)
    return problems


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
    if test.outcome == "inconclusive":
        return test.cause.startswith(BROKEN)
    return test.outcome not in ("passed", "not_started")


def describe_problems(result: KataResult, traces: dict[tuple[str, str], str]) -> Iterator[str]:
    """Yield a message for the instructor about each test that fails with the reference solution."""
    for test in result.tests:
        if test.outcome == "not_started":
            yield f"reference/{result.kata}/solution.py is not written yet, so {test.name} was not checked"
        elif test.outcome != "passed":
            text = traces.get((result.kata, test.name), test.message)
            where = f"tests/test_{result.kata}.py: {test.name}"
            yield f"{where} fails with the reference solution, so it costs students no points\n{indent(text, '  ')}"


def name_mark(kata: Kata, solution: dict[str, bytes], options: Options) -> str:
    """Return the name of the file whose existence means that the reference solution passes all tests of a kata."""
    basis = digest_basis(solution, options.grading.select_dependencies("katas"))
    return f"{kata.name}-{digest(kata.name, [*kata.points], digest_kata(kata.name), basis)[:32]}"
