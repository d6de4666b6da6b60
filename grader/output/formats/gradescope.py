"""Gradescope's `results.json`: tests, workloads, and the workloads' shares as a leaderboard."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from grader.output.exporter import Exporter, Options, load_results, write_each
from grader.output.speed_score import speed_score
from grader.results.result import Result
from grader.results.text import printable
from grader.results.view import HAND_IN, PERFORMANCE, VisibleTest, visible
from torchkata.course import Visibility, course
from torchkata.i18n import class_words


class Case(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One test or workload; one without status and points is shown as neither passed nor failed."""

    name: str
    number: str
    score: float | None = None
    max_score: float | None = None
    output: str
    tags: list[str]
    visibility: Visibility
    extra_data: dict[str, Any]
    status: Literal["passed", "failed"] | None = None


class Entry(msgspec.Struct, frozen=True):
    """One figure by which submissions are ranked."""

    name: str
    value: float
    order: Literal["asc", "desc"] = "desc"


class Report(msgspec.Struct, frozen=True):
    """The whole file."""

    score: float
    execution_time: float
    output: str
    tests: list[Case]
    extra_data: dict[str, Any]
    output_format: str = "text"
    test_output_format: str = "text"
    test_name_format: str = "text"
    visibility: Visibility = "visible"
    stdout_visibility: Visibility = "hidden"
    leaderboard: list[Entry] | msgspec.UnsetType = msgspec.UNSET  # without workloads there is none


def render(result: Result) -> bytes:
    """The file for one submission; a test that was not graded has no status and 0 points. Raises ValueError."""
    rows = visible(result, platform_hides=True)
    stopped = any(row.result.outcome == "not_graded" for row in rows if row.group != PERFORMANCE)
    unsure = any(row.result.outcome == "inconclusive" for row in rows)
    output = ""
    if result.unreadable:
        output = refused(result.unreadable)
    elif stopped or unsure:
        output = class_words("feedback.stopped" if stopped else "feedback.unsure")
    groups = [*(kata.kata for kata in result.katas), PERFORMANCE, HAND_IN]
    numbers = dict.fromkeys(groups, 0)
    cases = []
    for row in rows:
        numbers[row.group] += 1
        cases.append(case(row, f"{groups.index(row.group) + 1}.{numbers[row.group]}"))
    about = {
        "fingerprint": result.fingerprint,
        "examples": result.examples,
        "isolation": result.isolation,
    }
    report = Report(sum(row.result.score for row in rows), result.seconds, output, cases, about)
    if result.performance:
        report = msgspec.structs.replace(report, leaderboard=leaderboard(result))
    return encode(report)


def leaderboard(result: Result) -> list[Entry]:
    """The share that each workload reached; none where its result was wrong, or where there is only yes and no."""
    entries = []
    for timed in result.performance:
        workload = course().workloads[timed.workload]
        shown = speed_score(timed)
        if shown is not None and workload.points.passing < workload.points.full:
            entries.append(Entry(f"{workload.name} (share of {shown.of})", round(shown.share, 3)))
    return entries


def refusal(why: str) -> bytes:
    """The file for a submission that can't be read: no points, and the reason."""
    return encode(Report(0.0, 0.0, refused(why), [], {}))


def ended_early(gigabytes: float) -> bytes:
    """The file for a submission whose grading was killed before it could write one; its sentence fits any that was."""
    return encode(Report(0.0, 0.0, class_words("feedback.no_memory", gigabytes=f"{gigabytes:g}"), [], {}))


def refused(why: str) -> str:
    """A sentence for the student."""
    return class_words("feedback.refused", why=printable(why))


def case(row: VisibleTest, number: str) -> Case:
    """One test of the file."""
    open_still = row.result.outcome == "not_graded" or not row.counts
    return Case(
        name=f"{row.group}: {row.title}",
        number=number,
        score=row.result.score if row.counts else None,
        max_score=row.result.max_score if row.counts else None,
        output=class_words("feedback.not_run") if open_still and row.counts else row.result.message,
        tags=[row.group],
        visibility=row.visibility,
        extra_data={"outcome": row.result.outcome},
        status=None if open_still else "passed" if row.result.outcome == "passed" else "failed",
    )


def encode(report: Report) -> bytes:
    """JSON that a person can read, too."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1)


def export(directory: Path, options: Options) -> list[str]:
    """Write a file for each submission."""
    stored, problems = load_results(directory)
    return problems + write_each(stored, lambda one: render(one.result), options.to)


EXPORTER = Exporter(export)
