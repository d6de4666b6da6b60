"""pytest plugin that reports to the student: the failures of each kata, the table of katas, and the next step."""

import math
import os
import shlex
import shutil
from collections.abc import Generator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from torchkata.compare.show import shorten
from torchkata.course import Kata, course
from torchkata.course.predictions import has_questions
from torchkata.diagnosis.crashes import explain_crash
from torchkata.diagnosis.explain import describe_unwritten, explain, is_untestable, unwrap_group
from torchkata.diagnosis.mistakes import begin_raised, name_mistake, translate_mistake
from torchkata.i18n import _, format_label, pad, translate, wrap
from torchkata.i18n.katas import claim_of, describe_effort, score_of, title_of, title_of_track
from torchkata.inside.text import Message
from torchkata.result import FAILED, LOOK_OF, LOOKS, TestResult, get_status
from torchkata.seam.failures import Crashed, Wrong
from torchkata.streams import prepare_streams

from .failure_groups import describe_hidden, group_failures, render_block
from .history import State, find_next, load_state
from .links import add_link
from .rewards import describe_end, describe_kata, format_bar
from .run_state import add_result, attach_result, get_result, get_state
from .search import EXPLAINED_BY, MISSING_RETURN, RAISED
from .selection import find_kata, find_test

MAX_SHOWN = 3  # maximum number of failures shown for a kata, since fixing one often fixes others
TABLE_LINES = 10  # lines around the failures of a single kata: progress above, and the table and next step below
WIDTH = 99  # maximum number of columns
ORDINARY = ("passed", "failed", "skipped")  # outcomes of a report that no other plugin has changed
GREY = {"grey": "light"}  # the name that pytest uses for the color
AnyException: TypeAlias = pytest.ExceptionInfo[BaseException]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Skip a kata if one of its prerequisites has failed in this run. (The grader uses fallbacks instead.)"""
    kata, results = find_kata(item.path), get_state(item.config).results
    if kata is not None and (broken := find_broken_prerequisites(kata, results)):
        item.add_marker(pytest.mark.skip(reason=_("it builds on {katas}", katas=", ".join(broken))))


def find_broken_prerequisites(kata: str, results: Mapping[str, Sequence[TestResult]]) -> list[str]:
    """Return the prerequisites of a kata that have failed in this run."""
    names = course().prerequisites(kata)
    return [name for name in names if any(result.outcome in FAILED for result in results.get(name, ()))]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Replace the traceback with the message for the student."""
    kata = find_kata(item.path)
    if kata is None or call.when != "call":
        report = yield
        report.kata = kata  # type: ignore[attr-defined]
        return report
    result, raised = TestResult(find_test(item), "passed"), call.excinfo
    if raised is not None and not isinstance(raised.value, (pytest.skip.Exception, KeyboardInterrupt)):
        result = explain_failure(item, kata, raised.value)
        skips = result.outcome == "not_started"  # pytest formats the traceback of a failure, which takes time
        call.excinfo = replace_exception(raised, pytest.skip.Exception() if skips else fail(result.message))
    report = yield
    call.excinfo = raised  # so that --pdb shows the original exception
    report.sections = [(title, text) for title, text in report.sections if title.startswith("Captured std")]
    report.kata = kata  # type: ignore[attr-defined]
    if result.outcome == "not_started":
        report.outcome = "skipped"
        why = describe_unwritten(result.file, result.line)
        report.longrepr = (str(item.path), (item.location[1] or 0) + 1, why)
    attach_result(report, add_prints(result, report.capstdout))
    return report


class ResultCollector:
    """Collects results from the reports of all tests, which may have run in other processes (pytest-xdist)."""

    def __init__(self, results: MutableMapping[str, list[TestResult]]) -> None:
        self.results = results

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the result of a test, unless the test will run again (pytest-rerunfailures)."""
        kata, result = getattr(report, "kata", None), get_result(report)
        if kata is not None:
            results = self.results.setdefault(kata, [])
            if result is not None and report.outcome in ORDINARY:
                add_result(results, result)


def pytest_configure(config: pytest.Config) -> None:
    """Collect the results of this run. Prepare the streams now, because they are not captured yet."""
    if config.pluginmanager.hasplugin("terminal"):  # the grader has its own streams
        prepare_streams()
    config.pluginmanager.register(ResultCollector(get_state(config).results))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Make the run fail if a kata has not been started. Editors and JUnit files would show only skipped tests."""
    results = get_state(session.config).results
    for name, kata in course().katas.items():  # another plugin may have changed the order of the tests
        if name in results:
            ran = [] if find_broken_prerequisites(name, results) else results[name]
            results[name] = sorted(ran, key=lambda result: [*kata.points].index(result.name))
    ended = [result.outcome for tests in results.values() for result in tests]
    if session.exitstatus == pytest.ExitCode.OK and "not_started" in ended:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def explain_failure(item: pytest.Item, kata: str, error: BaseException) -> TestResult:
    """Return the result of a failed test of a kata."""
    cause, claim = unwrap_group(error), claim_of(kata, find_test(item), get_claim(item))
    heading = f"{kata} · {_('cannot be tested yet: {claim}', claim=claim) if is_untestable(cause) else claim}"
    mistakes = item.stash.get(EXPLAINED_BY, [])
    known, seen = name_mistake(kata, mistakes), item.stash.get(MISSING_RETURN, "") or find_mistake(cause)
    looks_like = translate_mistake(kata, known) if known else translate(seen)
    call = get_state(item.config).student.last
    result = explain(find_test(item), heading, error, call, build_command(item), known or str(seen), looks_like)
    is_proof = item.config.getoption("--hypothesis-profile") == "prove"  # then no student reads the message
    raised = item.stash.get(RAISED, {}).items() if is_proof else ()
    message = "\n".join([result.message, *(begin_raised(one) + text for one, text in raised)])
    return replace(result, explained_by=tuple(mistakes), message=message)


def find_mistake(cause: BaseException) -> Message:
    """Return the mistake identified by an exception, or ""."""
    if isinstance(cause, Wrong):
        return cause.mistake
    return explain_crash(cause) if isinstance(cause, Crashed) else ""


def fail(message: str) -> BaseException:
    """Return the exception with which pytest fails a test, without a traceback."""
    return pytest.fail.Exception(message, pytrace=False)


def replace_exception(raised: AnyException, other: BaseException) -> AnyException:
    """Return another exception with a single frame, so that pytest does not format hidden frames."""
    trace = raised.tb
    while trace.tb_next is not None:
        trace = trace.tb_next
    return pytest.ExceptionInfo.from_exception(other.with_traceback(trace))


def get_claim(item: pytest.Item) -> str:
    """Return the first line of a test's docstring, which states the property that it checks."""
    text: str = (getattr(item, "obj", None) and item.obj.__doc__) or item.name  # type: ignore[attr-defined]
    return text.strip().splitlines()[0].removesuffix(".")


def build_command(item: pytest.Item) -> str:
    """Return the command that runs this test again. It uses the same inputs unless the seed is secret."""
    config = item.config
    options = [f"--impl={config.getoption('impl')}"] if config.getoption("impl") != "assignment" else []
    if config.getoption("--hypothesis-profile"):
        options.append(f"--hypothesis-profile {config.getoption('--hypothesis-profile')}")
    if config.getoption("examples") is not None:
        options.append(f"--examples {config.getoption('examples')}")
    if not get_state(config).is_seed_secret:
        options.append(f"--seed {get_state(config).seed}")
    file = os.path.relpath(item.path, config.invocation_params.dir)
    test = item.nodeid.partition("::")[2].removesuffix(item.name) + find_test(item)
    return " ".join(["pytest", shlex.quote(f"{file}::{test}"), *options])


def add_prints(result: TestResult, printed: str) -> TestResult:
    """Add the last lines that the student's code printed when it was called with the shrunk input."""
    if not result.message or not printed.strip():
        return result
    block, again = result.message.rsplit("\n", 1)
    lines = [format_label(_("printed"), shorten(line)) for line in printed.strip().splitlines()[-5:]]
    return replace(result, message="\n".join([block, *lines, again]))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """Give each outcome its own category, so that pytest shows tracebacks only for unexpected errors."""
    result = get_result(report)
    if result is None or result.outcome == "passed" or report.outcome not in ORDINARY:
        return None
    look = LOOKS[result.outcome]
    category = translate(look.word)
    return category, look.letter, (category.upper(), {GREY.get(look.color, look.color): True})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the failures, the table of katas and the next step."""
    results = get_state(config).results
    if not results:
        return
    most = None if config.get_verbosity() > 0 else MAX_SHOWN
    for kata in course().katas.values():
        write_failures(terminalreporter, kata, results.get(kata.name, []), most)
    write_table(terminalreporter, results)


def write_failures(out: pytest.TerminalReporter, kata: Kata, results: list[TestResult], most: int | None) -> None:
    """Print the failures of a kata, one block for each cause."""
    if get_status([result.outcome for result in results]) in ("not_started", "done"):
        return
    width = find_width(out)
    room = shutil.get_terminal_size().lines - TABLE_LINES if out.isatty and most is not None else math.inf
    started = [result for result in results if result.outcome != "not_started"]
    blocks = group_failures(started if any(result.outcome != "passed" for result in started) else results)
    shown = 0
    for block in blocks[:most]:
        lines = [[*wrap(line, width)] for line in render_block(kata, block)]
        room -= 1 + sum(map(len, lines))
        if shown and room < 0:  # failures that scroll off the screen are not read
            break
        shown += 1
        out.write_line("")
        for place, parts in enumerate(lines):
            for part in parts:
                out.write_line(add_place_link(out, part, block.tests[0]), bold=place == 0)
    if hidden := sum(len(block.tests) for block in blocks[shown:]):
        out.write_line("\n" + describe_hidden(kata, hidden))


def find_width(out: pytest.TerminalReporter) -> int:
    """Return the maximum number of columns of a line."""
    return min(WIDTH, shutil.get_terminal_size().columns) if out.isatty else WIDTH


def add_place_link(out: pytest.TerminalReporter, text: str, result: TestResult) -> str:
    """Turn the file name in a line of a failure report into a link to the student's file."""
    if not result.file or out.config.getoption("impl") != "assignment":
        return text
    place = _("{file}, line {line}", file=result.file, line=result.line) if result.line else result.file
    return add_link(text, place, course().assignment / result.file, is_terminal=bool(out.isatty))


def write_table(out: pytest.TerminalReporter, results: dict[str, list[TestResult]]) -> None:
    """Print one line for each tested kata, grouped by track, then suggest the next kata and commands that help."""
    katas = course().choose(list(results))
    width = max(len(kata.name) for kata in katas) + 2
    state = load_state()
    left: set[str] = set()
    failed: set[str] = set()
    for before, kata in zip([None, *katas], katas, strict=False):
        if before is None or before.track != kata.track:
            out.write_line(f"\n{title_of_track(course().tracks[kata.track])}")
        outcomes = [result.outcome for result in results.get(kata.name, [])]
        status = get_status(outcomes)
        partly = status == "done" and len(outcomes) < len(kata.points)
        out.write(f"  {kata.name:<{width}}")
        color = "grey" if partly else LOOK_OF[status].color
        word = _("partly run") if partly else translate(LOOK_OF[status].word)
        out.write(pad(word, 13), **{GREY.get(color, color): True})
        points = sum_points(kata.name, results.get(kata.name, []))
        row = score_of(kata, outcomes.count("passed"), points) + describe_prerequisites(kata, results)
        out.write_line("\n".join(wrap(" " * (width + 15) + row, find_width(out)))[width + 15 :])
        if partly or status != "done":
            left |= {kata.name, *find_open_causes(kata, results, state)}
        if LOOK_OF[status].color == "red":
            failed.add(kata.name)
    config = out.config
    if config.getoption("--hypothesis-profile") == "grade":
        earned = sum(sum_points(name, ended) for name, ended in results.items())
        total = sum(kata.max_score for kata in katas)
        out.write_line("\n" + _("{earned} of {most} points", earned=f"{earned:g}", most=f"{total:g}"), bold=True)
    if config.getoption("watched") and failed:
        return
    following = find_next(left, failed)
    if following is None:
        write_rewards(out, katas, state)
        return
    if len(katas) == 1 and (effort := describe_effort(katas[0])):
        out.write_line("\n".join(wrap(f"  {effort}", find_width(out), hanging=2)))
    user = next((name for name in results if name in course().dependents(following.name)), "")
    line = _(
        "next: {title} — assignment/{kata}.py ({user} builds on it), then: kata next {kata}"
        if following.name not in results and user
        else "next: {title} — assignment/{kata}.py, then: kata next {kata}",
        title=title_of(following),
        kata=following.name,
        user=user,
    )
    file = course().stub(following.name)
    out.write_line("")
    for part in wrap(line, find_width(out), hanging=0):
        out.write_line(add_link(part, f"assignment/{file.name}", file, is_terminal=bool(out.isatty)))
    if failed:
        out.write_line(_("stuck? kata about {kata}, kata hint {kata}", kata=following.name))
    elif state.status(following.name) in ("not_graded", "not_started"):
        out.write_line(_("before you write it: kata about {kata}", kata=following.name))
        if has_questions(following.name):
            out.write_line(_("  before you run its tests: kata predict {kata}", kata=following.name))


def write_rewards(out: pytest.TerminalReporter, katas: Sequence[Kata], state: State) -> None:
    """Print what is possible now that these katas are done."""
    if state.next() is None:
        lines = [*describe_end(state)]
    elif len(katas) == 1:
        lines = [*describe_kata(katas[0], state)]
    else:
        lines = [_("All done." if len(katas) == len(course().katas) else "Done. For the next kata: kata next")]
    for line in ("", *lines, format_bar(state)):
        out.write_line("\n".join(wrap(line, find_width(out), hanging=0)))


def sum_points(kata: str, results: Sequence[TestResult]) -> float:
    """Return the points of all tests that passed."""
    return sum(course().katas[kata].points[result.name] for result in results if result.outcome == "passed")


def find_open_causes(kata: Kata, results: Mapping[str, Sequence[TestResult]], state: State) -> set[str]:
    """Return the unfinished prerequisites that caused tests of this kata to fail."""
    files = {Path(result.file).stem for result in results.get(kata.name, [])}
    return {name for name in course().prerequisites(kata.name) if name in files and not state.is_done(name)}


def describe_prerequisites(kata: Kata, results: dict[str, list[TestResult]]) -> str:
    """Return a remark that names the failed or unwritten prerequisites of a kata, or "" if there are none."""
    causes = {
        result.cause.removesuffix(".py") for result in results.get(kata.name, []) if result.outcome == "not_started"
    }
    broken = [] if results.get(kata.name) else find_broken_prerequisites(kata.name, results)
    needed = [name for name in course().prerequisites(kata.name) if name in causes or name in broken]
    return _("   (builds on {katas}: do that first)", katas=", ".join(needed)) if needed else ""
