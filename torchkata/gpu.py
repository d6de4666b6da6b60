"""pytest plugin: speed on this machine's own GPU. `pytest -m gpu`, the fixtures `trial` and `judge`, the table.

Plain pytest knows nothing of these tests; without a GPU they are not graded.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from .course import Tiers, Workload, course
from .explain import explain
from .failures import Wrong
from .languages import padded, words
from .languages.notes import said
from .progress import GREY, command
from .result import LOOKS, TestResult
from .speed.devices import device
from .speed.sizes import Kind
from .speed.stopwatch import Stopwatch, here
from .speed.trial import Figure, Trial
from .speed.words import lesson
from .speed.workload import work_of
from .student import InProcess, Student

SPEED = "test_speed.py"
TOO_SLOW = "too_slow"  # a right result below the thresholds
CALL_SECONDS = 60.0


@dataclass(frozen=True)
class SpeedScore:
    """A figure, and the share of it that thresholds are for: MFU where the device's are known, else the ratio."""

    figure: Figure
    measure: str
    share: float
    thresholds: Tiers

    @property
    def verdict(self) -> str:
        """The tier that is reached."""
        if self.share >= self.thresholds.full:
            return "full"
        return "passing" if self.share >= self.thresholds.passing else TOO_SLOW


@dataclass(frozen=True)
class Row:
    """How a workload ended."""

    result: TestResult
    speed_score: SpeedScore | None = None

    @property
    def verdict(self) -> str:
        """The tier where one was measured, else the outcome in words."""
        status = LOOKS[self.result.outcome].status
        return words(f"speed.{self.speed_score.verdict}" if self.speed_score is not None else f"status.{status}")


Judge: TypeAlias = Callable[[Figure], None]

STOPWATCH = pytest.StashKey[Stopwatch | str]()
ROWS = pytest.StashKey[list[Row]]()
SPEED_SCORE = pytest.StashKey[SpeedScore]()


def pytest_configure(config: pytest.Config) -> None:
    """Nothing has been timed yet."""
    config.stash[ROWS] = []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these tests out unless `-m` or their file's name asks for them."""
    asked = "gpu" in config.getoption("markexpr") or any(SPEED in argument for argument in config.args)
    return True if is_speed(collection_path) and not asked else None


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
    return course().workloads[str(item.callspec.params["workload"])]


def claim(workload: str) -> str:
    """The first line of the docstring of its class."""
    return (type(work_of(workload)).__doc__ or workload).splitlines()[0].removesuffix(".")


@pytest.fixture(scope="session")
def stopwatch(request: pytest.FixtureRequest) -> Stopwatch:
    """The GPU and its clock; without one, whoever asks is not graded."""
    stash = request.config.stash
    if STOPWATCH not in stash:
        stash[STOPWATCH] = here()
    found = stash[STOPWATCH]
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def trial(workload: str, student: Student, stopwatch: Stopwatch) -> Trial:
    """The workload, ready to be measured."""
    assert isinstance(student.runner, InProcess)
    patient = Student(InProcess(student.runner.assignment.folder, CALL_SECONDS))
    patient.reset(course().workloads[workload].uses[-1])
    return Trial(workload, patient, stopwatch)


@pytest.fixture
def judge(request: pytest.FixtureRequest, stopwatch: Stopwatch) -> Judge:
    """Hold a figure against the thresholds: `judge(figure)`. Raises Wrong below them."""
    workload = workload_of(request.node)

    def hold(figure: Figure) -> None:
        speed_score = judge_by(workload, stopwatch.kind, stopwatch.name, figure)
        request.node.stash[SPEED_SCORE] = speed_score
        if speed_score.verdict == TOO_SLOW:
            taught = lesson(workload.name, stopwatch.kind, figure.ratio, figure.mfu, device(stopwatch.name))
            of = "" if speed_score.measure else f" {work_of(workload.name).of}"
            raise Wrong(
                expected=said(f"{speed_score.measure}{speed_score.thresholds.passing:.2f} or more{of}"),
                yours=f"{speed_score.measure}{speed_score.share:.2f}",
                note=taught,
            )

    return hold


def judge_by(workload: Workload, kind: Kind, name: str, figure: Figure) -> SpeedScore:
    """By MFU where the device of this name has thresholds of it, else by the ratio."""
    model = device(name)
    if model is not None and model.mfu and workload.mfu is not None and figure.mfu is not None:
        return SpeedScore(figure, "MFU ", figure.mfu, workload.mfu)
    return SpeedScore(figure, "", figure.ratio, workload.ratio[kind])


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
            result = explain(name, f"{name} · {said(claim(name))}", raised.value, None, command(item))
            in_our_words = pytest.fail.Exception(result.message, pytrace=False).with_traceback(raised.tb)
            call.excinfo = pytest.ExceptionInfo.from_exception(in_our_words)
        row = Row(result, item.stash.get(SPEED_SCORE, None))
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
    timed = any(row.speed_score for row in rows)
    out.write_line("")
    if timed:
        columns = {"workload": 22, "figure": 18, "passes": 9, "all": 9, "verdict": 0}
        out.write_line("  " + "".join(padded(words(f"speed.{name}"), width) for name, width in columns.items()))
    for row in rows:
        out.write(f"  {row.result.name:<22}")
        if row.speed_score is not None:
            thresholds = row.speed_score.thresholds
            out.write(f"{shown(row.speed_score):<18}{thresholds.passing:<9.2f}{thresholds.full:<9.2f}")
        elif timed:
            out.write(f"{'–':<18}{'–':<9}{'–':<9}")
        colour = LOOKS[row.result.outcome].colour
        out.write(row.verdict, **{GREY.get(colour, colour): True})
        out.write_line(f"   ({notes_of(row)})" if notes_of(row) else "")
    if isinstance(found, str):
        out.write_line("\n" + words("speed.not_graded"))
    else:
        out.write_line("\n" + words("speed.about", device=found.name))


def shown(speed_score: SpeedScore) -> str:
    """What counts first, then the MFU for information."""
    figure = speed_score.figure
    if speed_score.measure or figure.mfu is None:
        return f"{speed_score.measure}{speed_score.share:.2f}"
    return f"{figure.ratio:.2f}, MFU {figure.mfu:.2f}"


def notes_of(row: Row) -> str:
    """Why a workload did not run, or what was made smaller."""
    if row.result.outcome == "not_graded":
        return said(row.result.message)
    return said(row.speed_score.figure.shrunk) if row.speed_score else ""
