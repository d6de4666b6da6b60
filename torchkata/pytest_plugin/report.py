"""pytest plugin: what a student sees. Failures that speak of the kata, then the table of katas and the next step."""

import math
import os
import shlex
import shutil
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from torchkata.compare.show import short
from torchkata.course import Kata, course
from torchkata.diagnosis.crashes import meaning
from torchkata.diagnosis.explain import explain, first_cause, is_unasked
from torchkata.diagnosis.mistakes import in_the_students_language
from torchkata.i18n import format_label, pad, words, wrap
from torchkata.i18n.katas import claim_of, score_of, title_of, title_of_track
from torchkata.i18n.notes import translate
from torchkata.result import FAILED, LOOK_OF, LOOKS, TestResult, status_of
from torchkata.seam.failures import Crashed, Wrong

from .failure_groups import blocks, lines_of
from .history import State, first_to_do, load
from .links import linked
from .run_state import get_state
from .search import EXPLAINED_BY
from .selection import kata_of

SHOWN = 3  # failures of one kata: what is mended first often mends the rest
TABLE = 10  # lines around the failures of one kata: progress above; its table, and what is next, below
WIDTH = 99  # columns of a line, where the terminal has as many

GREY = {"grey": "light"}  # as pytest calls it


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Leave out a kata whose foundation has just failed. The grader never asks here: it has fallbacks."""
    kata, results = kata_of(item.path), get_state(item.config).results
    if kata is not None and (broken := broken_foundations(kata, results)):
        results.setdefault(kata, [])
        item.add_marker(pytest.mark.skip(reason=f"it builds on {', '.join(broken)}"))


def broken_foundations(kata: str, results: Mapping[str, Sequence[TestResult]]) -> list[str]:
    """What a kata builds on and what has failed in this run."""
    return [
        name for name in course().foundations(kata) if any(result.outcome in FAILED for result in results.get(name, []))
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put our words in the place of a traceback through the harness."""
    kata = kata_of(item.path)
    if kata is None or call.when != "call":
        return (yield)
    result, raised = TestResult(item.name, "passed"), call.excinfo
    if raised is not None and not isinstance(raised.value, (pytest.skip.Exception, KeyboardInterrupt)):
        sentence = claim_of(kata, item.name, claim(item))
        if is_unasked(first_cause(raised.value)):
            sentence = words("told.not_asked", claim=sentence)
        heading = f"{kata} · {sentence}"
        call_made, mistakes = get_state(item.config).student.last, item.stash.get(EXPLAINED_BY, [])
        known, seen = mistakes[0] if len(mistakes) == 1 else "", seen_in(first_cause(raised.value))
        diagnosis, looks_like = known or seen, in_the_students_language(kata, known) if known else translate(seen)
        result = explain(item.name, heading, raised.value, call_made, command(item), diagnosis, looks_like)
        result = replace(result, explained_by=tuple(mistakes))
        in_our_words = pytest.fail.Exception(result.message, pytrace=False).with_traceback(end_of(raised.tb))
        call.excinfo = pytest.ExceptionInfo.from_exception(in_our_words)
    report = yield
    call.excinfo = raised  # for --pdb
    report.sections = [(title, text) for title, text in report.sections if title.startswith("Captured std")]
    report.kata_result = result  # type: ignore[attr-defined]
    if result.outcome == "not_started":
        report.outcome = "skipped"
        why = words("told.to_do" if result.line else "told.missing", file=result.file, line=result.line)
        report.longrepr = (str(item.path), (item.location[1] or 0) + 1, why)
    get_state(item.config).results.setdefault(kata, []).append(with_prints(result, report.capstdout))
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """What is not started is skipped, to editors and in JUnit's file, and yet not all is well."""
    ended = [result.outcome for results in get_state(session.config).results.values() for result in results]
    if session.exitstatus == pytest.ExitCode.OK and "not_started" in ended:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def seen_in(cause: BaseException) -> str:
    """The mistake that shows in what ended a test, where no known one explains it; "" for none."""
    if isinstance(cause, Wrong):
        return cause.mistake
    return meaning(cause) if isinstance(cause, Crashed) else ""


def end_of(trace: TracebackType) -> TracebackType:
    """The innermost frame alone: pytest would prepare each frame for a report that shows none."""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def claim(item: pytest.Item) -> str:
    """The first line of the test's docstring: the sentence that it proves."""
    text: str = (getattr(item, "obj", None) and item.obj.__doc__) or item.name  # type: ignore[attr-defined]
    return text.strip().splitlines()[0].removesuffix(".")


def command(item: pytest.Item) -> str:
    """What to type to run this test again, on the same inputs unless these are secret."""
    config = item.config
    options = [f"--impl={config.getoption('impl')}"] if config.getoption("impl") != "assignment" else []
    if config.getoption("--hypothesis-profile"):
        options.append(f"--hypothesis-profile {config.getoption('--hypothesis-profile')}")
    if config.getoption("examples") is not None:
        options.append(f"--examples {config.getoption('examples')}")
    if not get_state(config).is_seed_secret:
        options.append(f"--seed {get_state(config).seed}")
    file, _, test = item.nodeid.partition("::")
    file = os.path.relpath(config.rootpath / file, config.invocation_params.dir)
    return " ".join(["pytest", shlex.quote(f"{file}::{test}"), *options])


def with_prints(result: TestResult, printed: str) -> TestResult:
    """Add the last lines that the student's code printed: they belong to the smallest input."""
    if not result.message or not printed.strip():
        return result
    block, _, again = result.message.rpartition("\n")
    lines = [format_label(words("label.printed"), short(line)) for line in printed.strip().splitlines()[-5:]]
    return replace(result, message="\n".join([block, *lines, again]))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """A category of our own for each outcome, so that pytest's section of tracebacks stays for real surprises."""
    result: TestResult | None = getattr(report, "kata_result", None)
    if result is None or result.outcome == "passed" or report.when != "call":
        return None
    look = LOOKS[result.outcome]
    category = words(f"status.{look.status}")
    return category, look.letter, (category.upper(), {GREY.get(look.colour, look.colour): True})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Failures, then the table, then what to do next."""
    results = get_state(config).results
    if not results:
        return
    most = None if config.get_verbosity() > 0 else SHOWN
    for kata in course().katas.values():
        write_failures(terminalreporter, kata, results.get(kata.name, []), most)
    write_table(terminalreporter, results)


def write_failures(out: pytest.TerminalReporter, kata: Kata, results: list[TestResult], most: int | None) -> None:
    """Each cause once, the clearest first; a kata that is not started has none."""
    if status_of([result.outcome for result in results]) in ("not_started", "done"):
        return
    size = shutil.get_terminal_size()
    width = min(WIDTH, size.columns) if out.isatty else WIDTH
    room = size.lines - TABLE if out.isatty and most is not None else math.inf
    told = blocks(results)
    shown = 0
    for block in told[:most]:
        lines = [[*wrap(line, width)] for line in lines_of(kata, block)]
        room -= 1 + sum(map(len, lines))
        if shown and room < 0:  # what scrolls away is not read
            break
        shown += 1
        out.write_line("")
        for place, parts in enumerate(lines):
            for part in parts:
                out.write_line(with_link(out, part, block.tests[0]), bold=place == 0)
    if hidden := sum(len(block.tests) for block in told[shown:]):
        out.write_line("\n" + words("failures.more", count=hidden, kata=kata.name))


def with_link(out: pytest.TerminalReporter, text: str, result: TestResult) -> str:
    """A line of a failure, with a link to the student's file where it names the place."""
    if not result.file or out.config.getoption("impl") != "assignment":
        return text
    place = words("told.at", file=result.file, line=result.line) if result.line else result.file
    return linked(text, place, course().assignment / result.file, is_terminal=bool(out.isatty))


def write_table(out: pytest.TerminalReporter, results: dict[str, list[TestResult]]) -> None:
    """One line for each kata that was tested, under its track, then the first one that is not done, and help."""
    katas = course().choose(list(results))
    width = max(len(kata.name) for kata in katas) + 2
    state = load()
    left: set[str] = set()
    failed: set[str] = set()
    for before, kata in zip([None, *katas], katas, strict=False):
        if before is None or before.track != kata.track:
            out.write_line(f"\n{title_of_track(course().tracks[kata.track])}")
        outcomes = [result.outcome for result in results.get(kata.name, [])]
        status = status_of(outcomes)
        partly = status == "done" and len(outcomes) < len(kata.points)
        out.write(f"  {kata.name:<{width}}")
        colour = "grey" if partly else LOOK_OF[status].colour
        word = words("status.partly" if partly else f"status.{status}")
        out.write(pad(word, 13), **{GREY.get(colour, colour): True})
        points = earned(kata.name, results.get(kata.name, []))
        out.write_line(score_of(kata, outcomes.count("passed"), points) + waits_for(kata, results))
        if partly or status != "done":
            left |= {kata.name, *causes_beside(kata, results, state)}
        if LOOK_OF[status].colour == "red":
            failed.add(kata.name)
    following = first_to_do(left, failed)
    if following is None:
        out.write_line("\n" + words("table.all_done" if len(katas) == len(course().katas) else "table.done"))
        return
    user = next((name for name in results if name in course().dependents(following.name)), "")
    key = "table.next_below" if following.name not in results and user else "table.next"
    told = words(key, title=title_of(following), kata=following.name, user=user)
    file = course().stub(following.name)
    out.write_line("\n" + linked(told, f"assignment/{file.name}", file, is_terminal=bool(out.isatty)))
    if failed:
        out.write_line(words("table.stuck", kata=following.name))


def earned(kata: str, results: Sequence[TestResult]) -> float:
    """The points of the tests that passed."""
    return sum(course().katas[kata].points[result.name] for result in results if result.outcome == "passed")


def causes_beside(kata: Kata, results: Mapping[str, Sequence[TestResult]], state: State) -> set[str]:
    """The earlier katas in whose files the tests of this one ended, but for those that are known to be done."""
    files = {Path(result.file).stem for result in results.get(kata.name, [])}
    return {name for name in course().foundations(kata.name) if name in files and not state.is_done(name)}


def waits_for(kata: Kata, results: dict[str, list[TestResult]]) -> str:
    """Name the earlier katas that failed, or whose stub this one ran into."""
    causes = {
        result.cause.removesuffix(".py") for result in results.get(kata.name, []) if result.outcome == "not_started"
    }
    broken = [] if results.get(kata.name) else broken_foundations(kata.name, results)
    needed = [name for name in course().foundations(kata.name) if name in causes or name in broken]
    return words("table.waits", katas=", ".join(needed)) if needed else ""
