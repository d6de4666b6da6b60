"""Gradescope's `results.json`."""

from typing import Any, Literal

import msgspec

from grader.formats.text import printable
from grader.formats.view import Seen, seen
from grader.result import Result
from kata.catalog import Visibility

STOPPED = "Grading stopped before all tests had run. Those that had count; hand in again to have all of them run."
UNSURE = "Some tests could not be run, and that is not your fault. Your instructor can have them run again."
NOT_RUN = "Not run: grading stopped before this test's turn."


class Case(msgspec.Struct, frozen=True, omit_defaults=True):
    """One test."""

    name: str
    number: str
    score: float
    max_score: float
    output: str
    tags: list[str]
    visibility: Visibility
    extra_data: dict[str, Any]
    status: Literal["passed", "failed"] | None = None


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


def render(result: Result) -> bytes:
    """The file for one submission; a test that was not graded has no status and 0 points. Raises ValueError."""
    rows = seen(result, platform_hides=True)
    outcomes = {row.outcome for row in rows}
    output = STOPPED if "not_graded" in outcomes else UNSURE if "inconclusive" in outcomes else ""
    katas = [kata.kata for kata in result.katas]
    numbers = dict.fromkeys(katas, 0)
    cases = []
    for row in rows:
        numbers[row.kata] += 1
        cases.append(case(row, f"{katas.index(row.kata) + 1}.{numbers[row.kata]}"))
    about = {
        "fingerprint": result.fingerprint,
        "seed": result.seed,
        "examples": result.examples,
        "isolation": result.isolation,
    }
    return encode(Report(sum(row.score for row in rows), result.seconds, output, cases, about))


def refusal(why: str) -> bytes:
    """The file for a submission that can't be read: no points, and the reason."""
    return encode(Report(0.0, 0.0, f"Your submission can't be graded. {printable(why)}", [], {}))


def case(row: Seen, number: str) -> Case:
    """One test of the file."""
    not_run = row.outcome == "not_graded"
    return Case(
        name=f"{row.kata}: {row.title}",
        number=number,
        score=row.score,
        max_score=row.max_score,
        output=NOT_RUN if not_run else row.message,
        tags=[row.kata],
        visibility=row.visibility,
        extra_data={"outcome": row.outcome},
        status=None if not_run else "passed" if row.outcome == "passed" else "failed",
    )


def encode(report: Report) -> bytes:
    """JSON that a person can read, too."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1)
