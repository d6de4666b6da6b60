"""Collects the tests once with pytest, and runs individual tests on request."""

import ast
import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import chdir
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from grader.base.errors import CallError
from grader.pipeline.pytest_internals import run_protocol
from torchkata.course import CourseError, Kata, compare_tests, course
from torchkata.i18n import class_language
from torchkata.pytest_plugin.inputs import Inputs
from torchkata.pytest_plugin.run_state import get_result, get_state
from torchkata.pytest_plugin.selection import find_kata
from torchkata.result import BROKEN, TestResult
from torchkata.seam.comparisons import begin_test, is_last_call_compared

NO_COMPARISON = "this test passes without comparing the student's last answer with anything"
NO_CALL = "this test never calls the student's code, so it proves nothing"


class Tests:
    """The collected tests, by kata and name."""

    def __init__(self, session: pytest.Session, examples: int, inputs: Inputs | None) -> None:
        self.config = session.config
        get_state(self.config).inputs = inputs
        self.examples = examples
        self.broken: set[tuple[str, str]] = set()  # (kata, test) of the tests that fail with the reference solution
        self.doubtful: dict[tuple[str, str], str] = {}  # those that fail at times or take too long, with the cause
        self.items: dict[str, dict[str, pytest.Function]] = {}
        for item in session.items:
            kata = find_kata(item.path)
            if kata is not None and isinstance(item, pytest.Function):
                self.items.setdefault(kata, {})[item.name] = item
        for chosen in course().choose([*get_state(self.config).chosen]):
            compare_tests(course(), chosen, {*self.items.get(chosen.name, ())}, chosen.points)


class Collector:
    """A pytest plugin that passes the collected tests to a function instead of running them."""

    def __init__(self, use: Callable[[Tests], None], examples: int, inputs: Inputs | None) -> None:
        self.use = use
        self.examples = examples
        self.inputs = inputs
        self.folder = Path.cwd()
        self.error: BaseException | None = None
        self.uncollected: list[str] = []  # the error of each file that could not be collected

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record the error of a file that could not be collected."""
        if report.failed:
            self.uncollected.append(str(report.longrepr).strip().splitlines()[-1])

    def pytest_configure(self, config: pytest.Config) -> None:
        """Return to the working directory, and select the fastest style of tracebacks, which are not shown."""
        os.chdir(self.folder)
        config.option.tbstyle = "native"

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Catch the error raised if the course's tests and points do not match.

        Without this, pytest would only print the error.
        """
        try:
            return (yield)
        except pytest.UsageError as error:
            self.error = CourseError(str(error))
            return None

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Pass the collected tests to the function instead of running them."""
        try:
            if self.error is not None:
                raise self.error
            if session.testsfailed:
                raise CallError("\n".join(self.uncollected) or "the tests can't be collected; run pytest to see why")
            given = session.config.invocation_params  # its folder was that of the course
            params = pytest.Config.InvocationParams(args=given.args, plugins=given.plugins, dir=self.folder)
            session.config.invocation_params = params  # commands in messages are relative to it
            self.use(Tests(session, self.examples, self.inputs))
        except BaseException as error:
            self.error = error
        return True


def collect_tests(
    use: Callable[[Tests], None], examples: int, profile: str, katas: Sequence[Kata] = (), inputs: Inputs | None = None
) -> None:
    """Collect the tests with a Hypothesis profile, and call `use` with them.

    Args:
        katas: the katas to collect tests of; if empty, all katas.
        inputs: random inputs drawn in advance; if None, Hypothesis draws them for each submission.
    """
    if "torch" in course().preload:
        import torch

        torch.set_num_threads(1)  # torch hangs in a forked child if its parent has used several threads
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ["KATA_LANG"] = class_language()  # results must not depend on the language of the machine
    collector = Collector(use, examples, inputs)
    arguments = [course().tests.name, f"--rootdir={course().root}", f"--config-file={course().root / 'pyproject.toml'}"]
    arguments += ["-p", "torchkata.pytest_plugin.plugin"]
    arguments += ["--override-ini=addopts=", "--override-ini=filterwarnings=", "--assert=plain", "--capture=no"]
    arguments += ["--import-mode=importlib", f"--hypothesis-profile={profile}", f"--examples={examples}"]
    arguments += [f"--kata={kata.name}" for kata in katas]
    for plugin in ("terminal", "cacheprovider", "faulthandler", "logging", "threadexception", "unraisableexception"):
        arguments += ["-p", f"no:{plugin}"]
    with chdir(course().root):  # pytest does not accept a path with [
        code = pytest.main(arguments, plugins=[collector])
    if collector.error is not None:
        raise collector.error
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise CallError(
            f"{course().root}: pytest can't collect the tests (exit code {int(code)}); run pytest to see why"
        )


def run_test(item: pytest.Item) -> TestResult:
    """Set up, run and tear down one test."""
    began = time.monotonic()
    begin_test()
    reports = run_protocol(item)
    results = [result for report in reports if (result := get_result(report)) is not None]
    faults = [str(one.longrepr) for one in reports if one.failed and get_result(one) is None]
    if faults or len(results) != 1 or (reports[1].skipped and results[0].outcome == "passed"):
        text = extract_reason(faults[0]) if faults else "the test did not run"
        result = TestResult(item.name, "inconclusive", message=f"the grader failed: {text}", cause=BROKEN)
    elif results[0].outcome == "passed" and get_state(item.config).student.last is None:
        result = TestResult(item.name, "inconclusive", message=NO_CALL, cause=BROKEN)
    elif results[0].outcome == "passed" and not is_last_call_compared() and not uses_assert(item.path):
        result = TestResult(item.name, "inconclusive", message=NO_COMPARISON, cause=BROKEN)
    else:
        result = results[0]
    return replace(result, seconds=round(time.monotonic() - began, 4))


@cache
def uses_assert(path: Path) -> bool:
    """Return whether a test file contains plain `assert` statements, which are not counted as comparisons."""
    return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(path.read_bytes())))


def extract_reason(fault: str) -> str:
    """Return the line of a failed setup's report that contains the reason: the fixture's error, or the last line."""
    lines = fault.strip().splitlines()
    return next((line.strip("E ") for line in lines if line.startswith("E ") and "fixture" in line), lines[-1])
