"""pytest plugin: what a student sees. Failures that speak of the kata, then the table of katas and the next step."""

from collections.abc import Generator
from dataclasses import replace
from types import TracebackType
from typing import Any

import pytest

from .course import Kata, course
from .diagnose import DIAGNOSIS
from .explain import Ending, Status, explain, status_of
from .languages import padded, words
from .languages.katas import claim_of, title_of, title_of_track
from .mistakes import in_the_students_language
from .profiles import SEED
from .selection import STUDENT, kata_of

ENDINGS = pytest.StashKey[dict[str, list[Ending]]]()
SHOWN = 3  # failures of one kata, when several katas are tested

LETTERS: dict[Status, str] = {
    "wrong": "W",
    "crashed": "C",
    "timed_out": "T",
    "not_started": "-",
    "inconclusive": "?",
}
COLOURS: dict[Status, dict[str, bool]] = {
    "done": {"green": True},
    "wrong": {"red": True},
    "crashed": {"red": True},
    "timed_out": {"red": True},
    "not_started": {"light": True},
    "inconclusive": {"yellow": True},
    "not_graded": {"light": True},
}


def pytest_configure(config: pytest.Config) -> None:
    """Nothing has ended yet."""
    config.stash[ENDINGS] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put our words in the place of a traceback through the harness."""
    kata = kata_of(item.path)
    if kata is None or call.when != "call":
        return (yield)
    ending, raised = Ending("passed"), call.excinfo
    if raised is not None and not isinstance(raised.value, (pytest.skip.Exception, KeyboardInterrupt)):
        heading = f"{kata} · {claim_of(kata, item.name, claim(item))}"
        call_made, diagnosis = item.config.stash[STUDENT].last, item.stash.get(DIAGNOSIS, "")
        looks_like = in_the_students_language(kata, diagnosis)
        ending = explain(heading, raised.value, call_made, command(item), diagnosis, looks_like)
        in_our_words = pytest.fail.Exception(ending.message, pytrace=False).with_traceback(end_of(raised.tb))
        call.excinfo = pytest.ExceptionInfo.from_exception(in_our_words)
    report = yield
    call.excinfo = raised  # for --pdb
    report.sections = [(title, text) for title, text in report.sections if title.startswith("Captured std")]
    report.ending = ending  # type: ignore[attr-defined]
    item.config.stash[ENDINGS].setdefault(kata, []).append(with_prints(ending, report.capstdout))
    return report


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
    """What to type to run this test again, on the same inputs."""
    config = item.config
    options = [f"--impl={config.getoption('impl')}"] if config.getoption("impl") != "assignment" else []
    if config.getoption("--hypothesis-profile"):
        options.append(f"--hypothesis-profile {config.getoption('--hypothesis-profile')}")
    if config.getoption("examples") is not None:
        options.append(f"--examples {config.getoption('examples')}")
    return " ".join(["pytest", item.nodeid, *options, f"--seed {config.stash[SEED]}"])


def with_prints(ending: Ending, printed: str) -> Ending:
    """Add the last lines that the student's code printed: they belong to the smallest input."""
    if not ending.message or not printed.strip():
        return ending
    block, _, again = ending.message.rpartition("\n")
    lines = [f"  {padded(words('label.printed'), 9)} {line}" for line in printed.strip().splitlines()[-5:]]
    return replace(ending, message="\n".join([block, *lines, again]))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """A category of our own for each outcome, so that pytest's section of tracebacks stays for real surprises."""
    ending: Ending | None = getattr(report, "ending", None)
    if ending is None or ending.outcome == "passed" or report.when != "call":
        return None
    status = status_of([ending.outcome])
    category, letter, colour = words(f"status.{status}"), LETTERS[status], COLOURS[status]
    return category, letter, (category.upper(), colour)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Failures, then the table, then what to do next."""
    endings = config.stash[ENDINGS]
    if not endings:
        return
    for kata in course().katas.values():
        write_failures(terminalreporter, kata, endings.get(kata.name, []), SHOWN if len(endings) > 1 else None)
    write_table(terminalreporter, endings)


def write_failures(out: pytest.TerminalReporter, kata: Kata, endings: list[Ending], most: int | None) -> None:
    """Each failure once; those with the same cause together; a kata that is not started has none."""
    if status_of([ending.outcome for ending in endings]) in ("not_started", "done"):
        return
    causes: dict[str, list[Ending]] = {}
    for ending in endings:
        if ending.outcome != "passed":
            causes.setdefault(ending.cause or ending.message, []).append(ending)
    for group in list(causes.values())[:most]:
        heading, _, body = group[0].message.partition("\n")
        out.write_line("")
        out.write_line(heading, bold=True)
        out.write_line(body)
        if len(group) > 1:
            key = "failures.same_way_once" if len(group) == 2 else "failures.same_way"
            out.write_line(words(key, count=len(group) - 1))
    hidden = sum(len(group) for group in list(causes.values())[len(causes) if most is None else most :])
    if hidden:
        out.write_line("\n" + words("failures.more", count=hidden, kata=kata.name))


def write_table(out: pytest.TerminalReporter, endings: dict[str, list[Ending]]) -> None:
    """One line for each kata that was tested, under its track, then the first one that is not done."""
    katas = course().choose(list(endings))
    width = max(len(kata.name) for kata in katas) + 2
    first_open: Kata | None = None
    for before, kata in zip([None, *katas], katas, strict=False):
        if before is None or before.track != kata.track:
            out.write_line(f"\n{title_of_track(course().tracks[kata.track])}")
        outcomes = [ending.outcome for ending in endings.get(kata.name, [])]
        status = status_of(outcomes)
        partly = status == "done" and len(outcomes) < len(kata.points)
        out.write(f"  {kata.name:<{width}}")
        out.write(
            padded(words("status.partly" if partly else f"status.{status}"), 13),
            **COLOURS["not_graded" if partly else status],
        )
        out.write_line(f"{outcomes.count('passed'):>3}/{len(kata.points)}{waits_for(kata, endings)}")
        if (partly or status != "done") and first_open is None:
            first_open = kata
    if first_open is None:
        out.write_line("\n" + words("table.all_done" if len(katas) == len(course().katas) else "table.done"))
    else:
        out.write_line("\n" + words("table.next", title=title_of(first_open), kata=first_open.name))


def waits_for(kata: Kata, endings: dict[str, list[Ending]]) -> str:
    """Name the earlier kata whose stub this one ran into."""
    causes = {
        ending.cause.removesuffix(".py") for ending in endings.get(kata.name, []) if ending.outcome == "not_started"
    }
    needed = [name for name in course().foundations(kata.name) if name in causes]
    return words("table.waits", katas=", ".join(needed)) if needed else ""
