"""Exports results to the `result.json` of Classroom 50, in which all points are scaled to integers."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from math import floor, lcm
from pathlib import Path
from typing import Any
from urllib.parse import quote

from grader.base.errors import CallError
from grader.options import ExportOptions
from grader.output.exporter import Exporter, Stored, write_each
from grader.results.result import Result
from grader.results.visibility import VisibleTest, view_as_student
from torchkata.i18n import translate_for_class as _
from torchkata.result import EARNED

SCHEMA = "classroom50/result/v1"
FINEST = 1000  # maximum factor; points that are still fractional are rounded down
KINDS = ("individual", "group", "team")

VARIABLES = {  # environment variables that the runner of Classroom 50 sets
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
    "datetime": "SUBMITTED_AT",
}


def render(result: Result, fields: Mapping[str, str], graded_at: datetime) -> bytes:
    """Return the content of `result.json` for a submission. `fields` has a value for each of `VARIABLES`.

    Raises ValueError if the course no longer contains a test or workload of the result.
    """
    rows = [row for row in view_as_student(result, platform_hides=False) if row.counts]  # it knows only pass and fail
    points = [exact(points) for row in rows for points in (row.result.score, row.result.max_score)]
    scale = min(FINEST, lcm(*(number.denominator for number in points)))  # the smallest that turns all into integers
    cases: list[dict[str, Any]] = [
        {
            "test-name": f"{row.group}: {row.title}{add_remark(row)}",
            "passed": row.result.outcome in EARNED,
            "score": scale_points(row.result.score, scale),
            "max-score": scale_points(row.result.max_score, scale),
        }
        for row in rows
    ]
    totals = {name: sum(case[name] for case in cases) for name in ("score", "max-score")}
    report = {**fields, "graded_at": format_utc(graded_at), **totals, "tests": cases, "schema": SCHEMA}
    return json.dumps(report, indent=2, ensure_ascii=False).encode()


def add_remark(row: VisibleTest) -> str:
    """Return what Classroom 50, which only knows tests that passed or failed, does not say about a test."""
    unsure = _("could not be graded; to be repeated") if row.result.outcome == "inconclusive" else ""
    remark = row.points if row.rehearsed else unsure
    return f" ({remark})" if remark else ""


def scale_points(points: float, factor: int) -> int:
    """Multiply points by a factor, and round down to an integer."""
    return floor(exact(points) * factor)


def exact(points: float) -> Fraction:
    """Return the exact value of the shortest decimal form of a float, such as 1/10 for 0.1."""
    return Fraction(repr(float(points)))


def collect_fields(given: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the fields, which come from the options and the runner, or are derived from GitHub's variables.

    Raises CallError for a missing or invalid field.
    """
    if unknown := given.keys() - VARIABLES.keys():
        raise CallError(f"there is no field {min(unknown)!r}; the fields are {', '.join(VARIABLES)}")
    fields = {name: environment[variable] for name, variable in VARIABLES.items() if environment.get(variable)}
    fields = add_derived(fields | {name: value for name, value in given.items() if value}, environment)
    missing = [name for name in VARIABLES if name not in fields]
    if missing:
        variables = ", ".join(VARIABLES[name] for name in missing)
        raise CallError(f"classroom50 needs {', '.join(missing)}: give --field NAME=VALUE or set {variables}")
    if fields["assignment_type"] not in KINDS:
        raise CallError(f"assignment_type is {fields['assignment_type']!r}; it must be one of {', '.join(KINDS)}")
    if not fields["submission"].startswith("submit/"):
        raise CallError(f"submission is {fields['submission']!r}; it must be a tag that begins with submit/")
    try:
        instant = datetime.fromisoformat(fields["datetime"])
    except ValueError:
        raise CallError(f"datetime is {fields['datetime']!r}; write it as 2026-09-30T23:59:00+02:00") from None
    return fields | {"datetime": format_utc(instant)}


def add_derived(fields: dict[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Add fields that can be derived from other fields or from the variables of GitHub Actions."""
    repository, tag = environment.get("GITHUB_REPOSITORY"), environment.get("GITHUB_REF_NAME", "")
    fields = {"assignment_type": "individual", **fields}
    if tag.startswith("submit/"):
        fields.setdefault("submission", tag)
    if repository:
        home = f"{environment.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
        if sha := environment.get("GITHUB_SHA"):
            fields.setdefault("commit", f"{home}/commit/{sha}")
        if "submission" in fields:
            fields.setdefault("release", f"{home}/releases/tag/{quote(fields['submission'], safe='')}")
    if "commit" in fields:
        fields.setdefault("review", fields["commit"])
    return fields


def format_utc(instant: datetime) -> str:
    """Return a time in UTC with a precision of seconds. A time without a time zone is treated as UTC."""
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def export(directory: Path, options: ExportOptions) -> list[str]:
    """Write the `result.json` of each submission. Raises CallError if a field is invalid or there are no results."""
    pairs = [field.partition("=") for field in options.fields]
    for name, equals, _value in pairs:
        if not equals:
            raise CallError(f"--field {name}: must have the form NAME=VALUE")

    def render_stored(stored: Stored) -> bytes:
        own = {name: value.replace("{submission}", stored.result.submission) for name, _, value in pairs}
        return render(stored.result, collect_fields(own, os.environ), stored.at)

    return write_each(directory, render_stored, options)


EXPORTER = Exporter(export, frozenset({"fields", "people", "accept"}))
