"""pytest plugin: speed on this machine's own GPU. `pytest -m gpu`, the fixture `speed`, the table.

Plain pytest knows nothing of these tests; without a GPU they are not graded.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from torchkata.course import Workload, course
from torchkata.diagnosis.explain import explain
from torchkata.i18n import pad, words
from torchkata.i18n.notes import translate
from torchkata.result import LOOKS, TestResult
from torchkata.seam.failures import Inconclusive, Wrong
from torchkata.seam.student import InProcess, Student
from torchkata.speed.datasheets import device
from torchkata.speed.remarks import choose_lesson
from torchkata.speed.stopwatch import Stopwatch, find_gpu
from torchkata.speed.trial import Figure, Trial
from torchkata.speed.workload import work_of

from .report import GREY, command

SPEED = "test_speed.py"


@dataclass(frozen=True)
class Row:
    """How a workload ended."""

    result: TestResult
    figure: Figure | None = None  # where one was measured

    @property
    def verdict(self) -> str:
        """The tier that was reached, or the outcome in words."""
        if self.figure is None:
            return words(f"status.{LOOKS[self.result.outcome].status}")
        return words(f"speed.{self.figure.verdict.tier or 'too_slow'}")


STOPWATCH = pytest.StashKey[Stopwatch | str]()
ROWS = pytest.StashKey[list[Row]]()
FIGURE = pytest.StashKey[Figure]()


def pytest_configure(config: pytest.Config) -> None:
    """Nothing has been timed yet."""
    config.stash[ROWS] = []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these tests out unless `-m` or their file's name asks for them."""
    asked = "gpu" in config.getoption("markexpr") or any(SPEED in argument for argument in config.args)
    return True if is_speed(collection_path) and not asked else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the test of speed once for each workload of the course."""
    if is_speed(metafunc.definition.path):
        metafunc.parametrize("workload", course().workloads.values(), ids=course().workloads)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--kata`, only the workloads that are about it."""
    katas = config.getoption("kata")
    items[:] = [item for item in items if not (is_timed(item) and katas and workload_of(item).uses[-1] not in katas)]


def is_timed(item: pytest.Item) -> bool:
    """Whether it is a test of speed."""
    return is_speed(item.path)


def is_speed(path: Path) -> bool:
    """Whether it is the course's file of these tests."""
    return path == course().tests / SPEED


def workload_of(item: pytest.Item) -> Workload:
    """The workload that a test is about."""
    assert isinstance(item, pytest.Function)
    workload = item.callspec.params["workload"]
    assert isinstance(workload, Workload)
    return workload


def claim(workload: str) -> str:
    """The first line of the docstring of its class."""
    return (type(work_of(workload)).__doc__ or workload).splitlines()[0].removesuffix(".")


@pytest.fixture(scope="session")
def stopwatch(request: pytest.FixtureRequest) -> Stopwatch:
    """The GPU and its clock; without one, whoever asks is not graded."""
    stash = request.config.stash
    if STOPWATCH not in stash:
        stash[STOPWATCH] = find_gpu()
    found = stash[STOPWATCH]
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def speed(
    request: pytest.FixtureRequest, workload: Workload, student: Student, stopwatch: Stopwatch
) -> Callable[[], None]:
    """Return what measures a test's workload. It raises Wrong where the result is wrong or too slow."""
    assert isinstance(student.runner, InProcess)
    student.reset(workload.uses[-1])
    trial = Trial(workload, student.runner.assignment, stopwatch)

    def measure() -> None:
        figure = trial.measure()
        verdict = figure.verdict
        if verdict.median is None:
            raise Inconclusive(translate(verdict.note))
        request.node.stash[FIGURE] = figure
        if verdict.outcome == "failed":
            raise Wrong(
                expected=translate(f"{figure.thresholds.passing:.2f} or more {work_of(workload.name).of}"),
                yours=f"{verdict.median:.2f}",
                note=choose_lesson(workload.name, stopwatch.kind, verdict.median, figure.mfu, device(stopwatch.name)),
            )

    return measure


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note how a workload ended, in our words."""
    raised = call.excinfo
    if not is_timed(item) or call.when == "teardown" or isinstance(raised and raised.value, KeyboardInterrupt):
        return (yield)
    if raised is not None and isinstance(raised.value, pytest.skip.Exception):
        row = Row(TestResult(workload_of(item).name, "not_graded", message=str(raised.value.msg)))
    elif call.when == "setup" and raised is None:
        return (yield)
    else:
        name = workload_of(item).name
        result = TestResult(name, "passed")
        if raised is not None:
            result = explain(name, f"{name} · {translate(claim(name))}", raised.value, None, command(item))
            in_our_words = pytest.fail.Exception(result.message, pytrace=False).with_traceback(raised.tb)
            call.excinfo = pytest.ExceptionInfo.from_exception(in_our_words)
        row = Row(result, item.stash.get(FIGURE, None))
    report = yield
    call.excinfo = raised  # for --pdb
    item.config.stash[ROWS].append(row)
    report.workload = row  # type: ignore[attr-defined]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """A category of its own for each verdict that is no pass."""
    row: Row | None = getattr(report, "workload", None)
    if row is None or row.result.outcome == "passed":
        return None
    return row.verdict, LOOKS[row.result.outcome].letter, row.verdict.upper()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Failures, then the table."""
    rows = config.stash[ROWS]
    for row in rows:
        if row.result.outcome not in ("passed", "not_graded", "not_started"):
            heading, _, body = row.result.message.partition("\n")
            terminalreporter.write_line("")
            terminalreporter.write_line(heading, bold=True)
            terminalreporter.write_line(body)
    if rows:
        write_table(terminalreporter, rows, config.stash.get(STOPWATCH, ""))


def write_table(out: pytest.TerminalReporter, rows: list[Row], found: Stopwatch | str) -> None:
    """One line for each workload, and what the figures are."""
    timed = any(row.figure for row in rows)
    out.write_line("")
    if timed:
        columns = {"workload": 22, "figure": 18, "passes": 9, "all": 9, "verdict": 0}
        out.write_line("  " + "".join(pad(words(f"speed.{name}"), width) for name, width in columns.items()))
    for row in rows:
        out.write(f"  {row.result.name:<22}")
        if row.figure is not None:
            thresholds = row.figure.thresholds
            out.write(f"{shown(row.figure):<18}{thresholds.passing:<9.2f}{thresholds.full:<9.2f}")
        elif timed:
            out.write(f"{'–':<18}{'–':<9}{'–':<9}")
        colour = LOOKS[row.result.outcome].colour
        out.write(row.verdict, **{GREY.get(colour, colour): True})
        out.write_line(f"   ({notes_of(row)})" if notes_of(row) else "")
    if isinstance(found, str):
        out.write_line("\n" + words("speed.not_graded"))
    else:
        out.write_line("\n" + words("speed.about", device=found.name))


def shown(figure: Figure) -> str:
    """Return the share that counts, then the MFU for information."""
    return f"{figure.verdict.median:.2f}" + (f", MFU {figure.mfu:.2f}" if figure.mfu is not None else "")


def notes_of(row: Row) -> str:
    """Why a workload did not run, or what was made smaller."""
    if row.result.outcome == "not_graded":
        return translate(row.result.message)
    return translate(row.figure.shrunk) if row.figure else ""
