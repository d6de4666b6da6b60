"""pytest plugin for speed tests on this machine's GPU (`pytest -m gpu`): the `speed` fixture, and a table of results.

Plain `pytest` does not collect these tests. Without a GPU, they are skipped.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from torchkata.course import Tier, Workload, course
from torchkata.diagnosis.explain import explain
from torchkata.i18n import _, pad, translate
from torchkata.inside.speed.workload import work_of
from torchkata.inside.text import Text
from torchkata.result import LOOKS, TestResult
from torchkata.seam.failures import Inconclusive, Wrong
from torchkata.seam.student import InProcess, Student
from torchkata.speed.bench import Reading, measure
from torchkata.speed.local_bench import LocalBench, Stopwatch, find_gpu
from torchkata.speed.remarks import choose_lesson

from .report import build_command, fail, replace_exception
from .run_summary import GREY

SPEED = "test_speed.py"
UNITS = {"FLOP": (1e12, "TFLOP/s"), "B": (1e9, "GB/s"), "tokens": (1e6, "Mtokens/s")}  # as shown, by unit of the rate
TIERS: dict[Tier | None, Text] = {"full": Text("full"), "passing": Text("passing"), None: Text("too slow")}


@dataclass(frozen=True)
class TimedWorkload:
    """The result of a workload."""

    result: TestResult
    reading: Reading | None = None  # None if nothing was measured
    shrunk: str = ""  # a note if the size was reduced to fit into memory
    lesson: str = ""  # what usually costs that much, if a workload passed without reaching full points

    @property
    def verdict(self) -> str:
        """The name of the tier that was reached, or the outcome if nothing was measured."""
        if self.reading is None:
            return translate(LOOKS[self.result.outcome].word)
        return translate(TIERS[self.reading.verdict.tier])


STOPWATCH = pytest.StashKey[Stopwatch | Text]()
ROWS = pytest.StashKey[list[TimedWorkload]]()
READING = pytest.StashKey[tuple[Reading, str, str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Initialize the list of results. The tests must run one at a time and in this process."""
    config.stash[ROWS] = []
    if is_selected(config) and (config.getoption("numprocesses", None) or config.getoption("forked", False)):
        raise pytest.UsageError(_("the speed tests run one at a time in a single process: leave out -n and --forked"))


def is_selected(config: pytest.Config) -> bool:
    """Return whether the speed tests are selected by `-m gpu` or by the name of their file."""
    asked = config.getoption("markexpr")
    return ("gpu" in asked and "not gpu" not in asked) or any(SPEED in argument for argument in config.args)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore the speed tests unless they are selected."""
    return True if is_speed(collection_path) and not is_selected(config) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the speed test with the workloads of the course."""
    if is_speed(metafunc.definition.path):
        metafunc.parametrize("workload", course().workloads.values(), ids=course().workloads)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the workloads of katas that are not selected by `--kata`."""
    katas = config.getoption("kata")
    items[:] = [
        item for item in items if not (is_speed(item.path) and katas and get_workload(item).uses[-1] not in katas)
    ]


def is_speed(path: Path) -> bool:
    """Return whether a path is that of the course's speed tests."""
    return path == course().tests / SPEED


def get_workload(item: pytest.Item) -> Workload:
    """Return the workload that a speed test measures."""
    assert isinstance(item, pytest.Function)
    workload = item.callspec.params["workload"]
    assert isinstance(workload, Workload)
    return workload


def get_claim(workload: str) -> Text:
    """Return the first line of a workload's docstring."""
    return Text((type(work_of(workload)).__doc__ or workload).splitlines()[0].removesuffix("."))


@pytest.fixture(scope="session")
def stopwatch(request: pytest.FixtureRequest) -> Stopwatch:
    """Return a stopwatch for the GPU. Without a GPU, skip the test."""
    stash = request.config.stash
    if STOPWATCH not in stash:
        stash[STOPWATCH] = find_gpu()
    found = stash[STOPWATCH]
    if isinstance(found, Text):
        pytest.skip(translate(found))
    return found


@pytest.fixture
def speed(
    request: pytest.FixtureRequest, workload: Workload, student: Student, stopwatch: Stopwatch
) -> Callable[[], None]:
    """Return a function that measures the workload. It raises Wrong if a result is wrong or the code is too slow."""
    assert isinstance(student.runner, InProcess)
    student.reset(workload.uses[-1])
    bench = LocalBench(workload, student.runner.assignment, stopwatch)

    def demand_speed() -> None:
        reading = measure(bench)
        verdict = reading.verdict
        if verdict.outcome == "inconclusive":
            raise Inconclusive(translate(verdict.note))
        if verdict.median is None:
            raise Wrong(note=translate(verdict.note))
        lesson = choose_lesson(workload.name, bench.kind, verdict.median, reading.mfu, bench.device)
        request.node.stash[READING] = reading, bench.shrunk, lesson if verdict.outcome == "passed" else ""
        if verdict.outcome == "failed":
            needed = _("{ratio} or more of plain torch's speed", ratio=f"{reading.thresholds.passing:.2f}")
            raise Wrong(expected=needed, yours=f"{verdict.median:.2f}", note=lesson)

    return demand_speed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record the result of a workload, and replace the traceback with the message for the student."""
    raised = call.excinfo
    if not is_speed(item.path) or call.when == "teardown" or isinstance(raised and raised.value, KeyboardInterrupt):
        return (yield)
    if raised is not None and isinstance(raised.value, pytest.skip.Exception):
        row = TimedWorkload(TestResult(get_workload(item).name, "not_graded", message=str(raised.value.msg)))
    elif call.when == "setup" and raised is None:
        return (yield)
    else:
        name = get_workload(item).name
        result = TestResult(name, "passed")
        if raised is not None:
            result = explain(name, f"{name} · {translate(get_claim(name))}", raised.value, None, build_command(item))
            call.excinfo = replace_exception(raised, fail(result.message))
        row = TimedWorkload(result, *item.stash.get(READING, ()))
    report = yield
    call.excinfo = raised  # so that --pdb shows the original exception
    item.config.stash[ROWS].append(row)
    report.speed = {"outcome": row.result.outcome, "verdict": row.verdict}  # type: ignore[attr-defined]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    """Give each verdict other than "passed" its own category in pytest's summary."""
    found = getattr(report, "speed", None)
    if found is None or found["outcome"] == "passed":
        return None
    return found["verdict"], LOOKS[found["outcome"]].letter, found["verdict"].upper()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the failures and the table of results."""
    rows = config.stash[ROWS]
    for row in rows:
        if row.result.outcome not in ("passed", "not_graded", "not_started"):
            heading, _, body = row.result.message.partition("\n")
            terminalreporter.write_line("")
            terminalreporter.write_line(heading, bold=True)
            terminalreporter.write_line(body)
    if rows:
        write_table(terminalreporter, rows, config.stash.get(STOPWATCH, ""))


def write_table(out: pytest.TerminalReporter, rows: list[TimedWorkload], found: Stopwatch | Text | str) -> None:
    """Print one line per workload, and an explanation of the values."""
    timed = any(row.reading for row in rows)
    out.write_line("")
    if timed:
        columns = [(_("workload"), 22), (_("rate"), 18), (_("measured"), 18), (_("to pass"), 9), (_("for full"), 9)]
        out.write_line("  " + "".join(pad(name, width) for name, width in columns) + _("verdict"))
    for row in rows:
        out.write(f"  {row.result.name:<22}")
        if row.reading is not None:
            thresholds = row.reading.thresholds
            scale, unit = UNITS[work_of(row.result.name).unit]
            out.write(f"{f'{(row.reading.rate or 0) / scale:.4g} {unit}':<18}{format_reading(row.reading):<18}")
            out.write(f"{thresholds.passing:<9.2f}{thresholds.full:<9.2f}")
        elif timed:
            out.write(f"{'–':<18}{'–':<18}{'–':<9}{'–':<9}")
        color = LOOKS[row.result.outcome].color
        out.write(row.verdict, **{GREY.get(color, color): True})
        out.write_line(f"   ({get_notes(row)})" if get_notes(row) else "")
        if row.lesson:
            out.write_line(f"    {row.lesson}")
    remark = _("Speed is not graded here, and you do not lose any points. The grader measures it on its own device.")
    if isinstance(found, Stopwatch):
        remark = _(
            "Measured on {device}, relative to plain PyTorch on the same device (MFU: relative to the device's peak).\n"
            "This is only an estimate: the grader measures your code again, and its result counts.",
            device=found.name,
        )
    out.write_line(f"\n{remark}")


def format_reading(reading: Reading) -> str:
    """Return the graded value and, for information, the MFU if it is known."""
    return f"{reading.verdict.median:.2f}" + (f", MFU {reading.mfu:.2f}" if reading.mfu is not None else "")


def get_notes(row: TimedWorkload) -> str:
    """Return the reason why a workload did not run, or a note about a reduced size."""
    return row.result.message if row.result.outcome == "not_graded" else row.shrunk
