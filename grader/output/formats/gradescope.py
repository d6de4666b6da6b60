"""Exports results to Gradescope's `results.json`: tests, workloads, and a leaderboard of the workloads.

`LiveReport` rewrites the file after every test, so that no points are lost if the platform stops the grader.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from grader.base.errors import convert_write_errors
from grader.base.files import write_whole
from grader.base.text import one_line, printable
from grader.options import ExportOptions
from grader.output.exporter import Exporter, write_each
from grader.output.speed_score import speed_score
from grader.pipeline import rubric
from grader.pipeline.job import FinishedTest
from grader.results.result import Result
from grader.results.visibility import HAND_IN, PERFORMANCE, VisibleTest, view_as_student
from torchkata.course import Kata, Visibility, course
from torchkata.i18n import translate_for_class as _
from torchkata.result import EARNED, TestResult

NOT_RUN = TestResult("", "not_graded")


class GradescopeTest(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A test or workload. If it has no status and no points, Gradescope shows it as neither passed nor failed."""

    name: str
    number: str
    score: float | None = None
    max_score: float | None = None
    output: str
    tags: list[str]
    visibility: Visibility
    extra_data: dict[str, Any]
    status: Literal["passed", "failed"] | None = None


class LeaderboardEntry(msgspec.Struct, frozen=True):
    """An entry of the leaderboard."""

    name: str
    value: float
    order: Literal["asc", "desc"] = "desc"


class GradescopeReport(msgspec.Struct, frozen=True):
    """The contents of `results.json`."""

    score: float
    execution_time: float
    output: str
    tests: list[GradescopeTest]
    extra_data: dict[str, Any]
    output_format: str = "text"
    test_output_format: str = "text"
    test_name_format: str = "text"
    visibility: Visibility = "visible"
    stdout_visibility: Visibility = "hidden"
    leaderboard: list[LeaderboardEntry] | msgspec.UnsetType = msgspec.UNSET  # omitted if there are no workloads


def render(result: Result) -> bytes:
    """Return the content of `results.json` for a submission.

    Raises ValueError if the course no longer contains a test or workload of the result.

    A test that was not graded has no status and 0 points.
    """
    rows = view_as_student(result, platform_hides=True)
    stopped = any(row.result.outcome == "not_graded" for row in rows if row.group != PERFORMANCE)
    unsure = any(row.result.outcome == "inconclusive" for row in rows)
    output = ""
    if result.unreadable:
        output = refusal_text(result.unreadable)
    elif stopped or unsure:
        output = _(
            "Grading stopped before all tests had run. The tests that ran count; submit again to run all of them."
            if stopped
            else "Some tests could not be run. This is not your fault, and your instructor can run them again."
        )
    groups = [*(kata.kata for kata in result.katas), PERFORMANCE, HAND_IN]
    numbers = dict.fromkeys(groups, 0)
    cases = []
    for row in rows:
        numbers[row.group] += 1
        cases.append(make_case(row, f"{groups.index(row.group) + 1}.{numbers[row.group]}"))
    about: dict[str, Any] = {name: getattr(result, name) for name in ("hand_in", "examples", "isolation")}
    about["findings"] = [f"{each.kata}.py, line {each.line}: {printable(each.text)}" for each in result.findings]
    report = GradescopeReport(sum(row.result.score for row in rows), result.seconds, output, cases, about)
    if result.performance:
        report = msgspec.structs.replace(report, leaderboard=build_leaderboard(result))
    return encode(report)


def build_leaderboard(result: Result) -> list[LeaderboardEntry]:
    """Return an entry for each workload, unless its result is wrong or it has only one threshold."""
    entries = []
    for timed in result.performance:
        workload = course().workloads[timed.workload]
        score = speed_score(timed)
        if score is not None and workload.points.passing < workload.points.full:
            entries.append(LeaderboardEntry(f"{workload.name} (share of {score.of})", round(score.share, 3)))
    return entries


def render_out_of_memory(gigabytes: float) -> bytes:
    """Return the `results.json` that is used if grading is killed because the container is out of memory."""
    output = _(
        "Grading was killed before all tests had run. This is not your fault, and the tests that ran count. "
        "The container probably has too little memory: this autograder needs {gigabytes} GB. Your instructor "
        "can choose a larger container and grade your submission again.",
        gigabytes=f"{gigabytes:g}",
    )
    return encode(GradescopeReport(0.0, 0.0, output, [], {}))


def refusal_text(why: str) -> str:
    """Return a message that tells the student why the submission could not be graded."""
    return _("Your submission can't be graded. {why}", why=one_line(why))


def make_case(row: VisibleTest, number: str) -> GradescopeTest:
    """Return the test case in `results.json` for a row."""
    open_still = row.result.outcome == "not_graded" or not row.counts
    return GradescopeTest(
        name=f"{row.group}: {row.title}",
        number=number,
        score=row.result.score if row.counts else None,
        max_score=row.result.max_score if row.counts else None,
        output=_("Not run: grading stopped before this test.") if open_still and row.counts else row.result.message,
        tags=[row.group],
        visibility=row.visibility,
        extra_data={"outcome": row.result.outcome},
        status=None if open_still else "passed" if row.result.outcome in EARNED else "failed",
    )


def encode(report: GradescopeReport) -> bytes:
    """Return the report as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1)


class LiveReport:
    """Rewrites the report of a submission after every test, so that no points are lost if the platform times out.

    All methods raise CallError if the report cannot be written to `path`.
    """

    def __init__(self, path: Path, katas: Sequence[Kata]) -> None:
        self.path = path
        self.katas = katas
        self.ended: dict[str, dict[str, TestResult]] = {kata.name: {} for kata in katas}
        self.began = time.monotonic()

    def begin(self, blank: Result) -> None:
        """Write the report before the first test."""
        self.blank = blank
        self.show()

    def add(self, event: FinishedTest) -> None:
        """Add the outcome of a test and rewrite the report."""
        self.ended[event.kata][event.result.name] = event.result
        self.show()

    def show(self) -> None:
        """Rewrite the report with the tests that have finished."""
        katas = [rubric.score(kata, self.ended[kata.name], missing=NOT_RUN) for kata in self.katas]
        seconds = round(time.monotonic() - self.began, 3)
        self.finish(msgspec.structs.replace(self.blank, katas=katas, seconds=seconds))

    def finish(self, result: Result) -> None:
        """Write the report of the complete result."""
        self.write(render(result))

    def refuse(self, why: str) -> None:
        """Write a report with 0 points and the reason why the submission cannot be graded."""
        self.write(encode(GradescopeReport(0.0, 0.0, refusal_text(why), [], {})))

    def write(self, content: bytes) -> None:
        """Replace the report atomically."""
        with convert_write_errors(self.path):
            write_whole(self.path, content)


def export(directory: Path, options: ExportOptions) -> list[str]:
    """Write the `results.json` of each submission."""
    return write_each(directory, lambda stored: render(stored.result), options)


EXPORTER = Exporter(export, frozenset({"people", "accept"}))
