"""Runs the reference solution before a class: a test that it does not pass is nobody's mistake but the instructor's.

    passed         the test is sound: what it raises later was caused by the answer of a student
    anything else  the test is broken: nobody loses a point by it, and the instructor is told

The verdict is settled before any code of a student runs, so that no answer can change it. It is kept by a digest of
tests, solution, engine and options in `$XDG_CACHE_HOME/torchkata/reference`, where bubblewrap keeps students' code out.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from grader.base.cachedir import cache_dir
from grader.pipeline.collect import Tests
from grader.pipeline.queue import Options
from grader.pipeline.session import Event, Graded, Job, grade
from grader.pipeline.submission import Submission
from grader.results.dependencies import digest, digest_basis, digest_kata
from grader.results.result import KataResult
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course
from torchkata.pytest_plugin.run_state import get_state
from torchkata.result import BROKEN, TestResult

UNUSED = 30 * 86400.0  # seconds after which a mark of other tests or of another seed is deleted


def check_tests(
    katas: Sequence[Kata], tests: Tests, sandbox: Sandbox, options: Options, take: Callable[[Event], None]
) -> list[str]:
    """Note in `tests` which are sound and which are broken; return a text for the instructor about each broken one."""
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
            jobs.append(Job(submission, (kata,), options.grading.seed, known_good=known, shows_all=True))
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
    """Delete the marks that no run has used for a month. Raises OSError."""
    for mark in marks.iterdir():
        if time.time() - mark.stat().st_mtime > UNUSED:
            mark.unlink(missing_ok=True)


def missing_solutions(katas: Sequence[Kata]) -> Iterator[Path]:
    """Yield the file of each reference solution that the course lacks; of none where it brings none at all."""
    if course().solutions():
        yield from (path for kata in katas if not (path := course().solution(kata.name)).is_file())


def is_broken(test: TestResult) -> bool:
    """Return whether the reference solution's result of a test says that the test is at fault, and not the machine."""
    if test.outcome == "inconclusive":
        return test.cause.startswith(BROKEN)
    return test.outcome not in ("passed", "not_started")


def describe_problems(result: KataResult, traces: dict[tuple[str, str], str]) -> Iterator[str]:
    """Yield what the instructor reads of each test of a kata that the reference solution does not pass."""
    for test in result.tests:
        if test.outcome == "not_started":
            yield f"reference/{result.kata}/solution.py is not written yet: {test.name} could not be checked with it"
        elif test.outcome != "passed":
            text = traces.get((result.kata, test.name), test.message)
            where = f"tests/test_{result.kata}.py: {test.name}"
            yield f"{where} fails with the reference solution, so no student can fail it\n{indent(text)}"


def indent(text: str) -> str:
    """Return the lines of a text, moved to the right."""
    return "\n".join(f"  {line}" for line in text.splitlines())


def name_mark(kata: Kata, solution: dict[str, bytes], options: Options) -> str:
    """Return the name of the file that says that the reference solution passes all tests of a kata."""
    basis = digest_basis(solution, options.grading.select_dependencies("katas"))
    return f"{kata.name}-{digest(kata.name, [*kata.points], digest_kata(kata.name), basis)[:32]}"
