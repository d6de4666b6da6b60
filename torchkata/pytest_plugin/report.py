"""pytest plugin that explains each failure to the student, and reports the results at the end of the run."""

import os
import shlex
from collections.abc import Generator, MutableMapping
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from torchkata.course import course
from torchkata.diagnosis.crashes import explain_crash
from torchkata.diagnosis.explain import describe_unwritten, explain, is_untestable, unwrap_group
from torchkata.diagnosis.mistakes import begin_raised, name_mistake, translate_mistake
from torchkata.i18n import _, translate
from torchkata.i18n.katas import claim_of
from torchkata.inside.text import Message
from torchkata.result import LOOKS, TestResult
from torchkata.seam.failures import Crashed, Died, TimedOut, Wrong
from torchkata.streams import prepare_streams

from .printed import add_prints
from .run_state import add_result, attach_result, get_result, get_state
from .run_summary import GREY, MAX_SHOWN, find_broken_prerequisites, write_failures, write_table
from .search import EXPLAINED_BY, MISSING_RETURN, RAISED
from .selection import find_kata, find_test

ORDINARY = ("passed", "failed", "skipped")  # outcomes of a report that no other plugin has changed
AnyException: TypeAlias = pytest.ExceptionInfo[BaseException]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Skip a kata if one of its prerequisites has failed in this run. (The grader uses fallbacks instead.)"""
    kata, results = find_kata(item.path), get_state(item.config).results
    if kata is not None and (broken := find_broken_prerequisites(kata, results)):
        item.add_marker(pytest.mark.skip(reason=_("it builds on {katas}", katas=", ".join(broken))))


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
    attach_result(report, add_prints(item.config, result, report))
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
    heading = f"{kata} · {say_what_failed(claim, cause)}"
    mistakes = item.stash.get(EXPLAINED_BY, [])
    known, seen = name_mistake(kata, mistakes), item.stash.get(MISSING_RETURN, "") or find_mistake(cause)
    looks_like = translate_mistake(kata, known) if known else translate(seen)
    call = get_state(item.config).student.last
    result = explain(find_test(item), heading, error, call, build_command(item), known or str(seen), looks_like)
    is_proof = item.config.getoption("--hypothesis-profile") == "prove"  # then no student reads the message
    raised = item.stash.get(RAISED, {}).items() if is_proof else ()
    message = "\n".join([result.message, *(begin_raised(one) + text for one, text in raised)])
    return replace(result, explained_by=tuple(mistakes), message=message)


def say_what_failed(claim: str, cause: BaseException) -> str:
    """Return the claim of a test, or what kept the test from finding out whether the claim is true."""
    if is_untestable(cause):
        return _("cannot be tested yet: {claim}", claim=claim)
    if isinstance(cause, TimedOut):
        return _("timed out while testing: {claim}", claim=claim)
    return _("crashed while testing: {claim}", claim=claim) if isinstance(cause, (Crashed, Died)) else claim


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
    is_for_another = get_state(config).is_seed_secret  # the student, whose folder is not the grader's
    file = os.path.relpath(item.path, course().root if is_for_another else config.invocation_params.dir)
    test = item.nodeid.partition("::")[2].removesuffix(item.name) + find_test(item)
    return " ".join(["pytest", shlex.quote(f"{file}::{test}"), *options])


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
    results, early = get_state(config).results, get_state(config).early
    if not results:
        return
    most = None if config.get_verbosity() > 0 else MAX_SHOWN
    for kata in course().katas.values():
        write_failures(terminalreporter, kata, results.get(kata.name, []), most, early)
    write_table(terminalreporter, results)
