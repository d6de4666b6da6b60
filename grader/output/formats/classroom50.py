"""Classroom 50's `result.json`. Scores are whole numbers: points with a fraction are all scaled by one factor."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from math import floor, lcm
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec

from grader.base.errors import CallError
from grader.output.exporter import Exporter, Options, Stored, load_results, write_each
from grader.results.result import Result
from grader.results.view import visible

SCHEMA = "classroom50/result/v1"
FINEST = 1000  # parts of a point; finer ones are dropped, never rounded up
KINDS = ("individual", "group", "team")

VARIABLES = {  # where Classroom 50's runner says what a result does not know
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


class Case(msgspec.Struct, frozen=True, rename={"name": "test-name", "max_score": "max-score"}):
    """One test."""

    name: str
    passed: bool
    score: int
    max_score: int


@dataclass(frozen=True)
class About:
    """What a result does not know: whose it is, and where."""

    classroom: str
    assignment: str
    assignment_type: str
    owner: str
    submission: str
    commit: str
    release: str
    review: str
    datetime: str


class Report(msgspec.Struct, frozen=True, rename={"max_score": "max-score"}):
    """The whole file."""

    classroom: str
    assignment: str
    assignment_type: str
    owner: str
    submission: str
    commit: str
    release: str
    review: str
    datetime: str
    graded_at: str
    score: int
    max_score: int
    tests: list[Case]
    schema: Literal["classroom50/result/v1"] = "classroom50/result/v1"


def render(result: Result, about: About, graded_at: datetime) -> bytes:
    """The file for one submission. Raises ValueError."""
    rows = [row for row in visible(result, platform_hides=False) if row.counts]  # it knows passed and not passed alone
    scale = whole([points for row in rows for points in (row.result.score, row.result.max_score)])
    cases = [
        Case(
            f"{row.group}: {row.title}{f' ({row.points})' if row.rehearsed else ''}",
            row.result.outcome == "passed",
            scaled(row.result.score, scale),
            scaled(row.result.max_score, scale),
        )
        for row in rows
    ]
    report = Report(
        **vars(about),
        graded_at=utc(graded_at),
        score=sum(case.score for case in cases),
        max_score=sum(case.max_score for case in cases),
        tests=cases,
    )
    return msgspec.json.format(msgspec.json.encode(report), indent=2)


def whole(points: Sequence[float]) -> int:
    """The least factor that makes all of these whole numbers, or as fine as scores get."""
    return min(FINEST, lcm(*(exact(number).denominator for number in points)))


def scaled(points: float, factor: int) -> int:
    """Whole points, never rounded up."""
    return floor(exact(points) * factor)


def exact(points: float) -> Fraction:
    """The number that a person wrote: a tenth for 0.1."""
    return Fraction(repr(float(points)))


def about(given: Mapping[str, str], environment: Mapping[str, str]) -> About:
    """What was given, else what the runner says, else what follows from GitHub's own variables.

    Raises ValueError that names what is missing or wrong.
    """
    if unknown := given.keys() - VARIABLES.keys():
        raise ValueError(f"there is no field {min(unknown)!r}; the fields are {', '.join(VARIABLES)}")
    fields = {name: environment[variable] for name, variable in VARIABLES.items() if environment.get(variable)}
    fields = derived(fields | {name: value for name, value in given.items() if value}, environment)
    missing = [name for name in VARIABLES if name not in fields]
    if missing:
        variables = ", ".join(VARIABLES[name] for name in missing)
        raise ValueError(f"classroom50 needs {', '.join(missing)}: give --field NAME=VALUE or set {variables}")
    if fields["assignment_type"] not in KINDS:
        raise ValueError(f"assignment_type is {fields['assignment_type']!r}; it can be {', '.join(KINDS)}")
    if not fields["submission"].startswith("submit/"):
        raise ValueError(f"submission is {fields['submission']!r}; it is a tag that begins with submit/")
    try:
        instant = datetime.fromisoformat(fields["datetime"])
    except ValueError:
        raise ValueError(f"datetime is {fields['datetime']!r}; it looks like 2026-09-30T23:59:00+02:00") from None
    return About(**(fields | {"datetime": utc(instant)}))


def derived(fields: dict[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The fields with those added that follow from others, or from what GitHub Actions sets."""
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


def utc(instant: datetime) -> str:
    """To the second; a time without a zone is taken for UTC."""
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def export(directory: Path, options: Options) -> list[str]:
    """Write a file for each submission. Raises CallError."""
    stored, problems = load_results(directory)
    fields = parse_fields(options.fields)
    return problems + write_each(stored, lambda one: render_stored(one, fields), options.to)


def parse_fields(fields: Sequence[str]) -> dict[str, str]:
    """Return `NAME=VALUE` texts as a table. Raises CallError."""
    pairs = [field.partition("=") for field in fields]
    for name, equals, _ in pairs:
        if not equals:
            raise CallError(f"--field {name}: it is written NAME=VALUE")
    return {name: value for name, _, value in pairs}


def render_stored(stored: Stored, fields: Mapping[str, str]) -> bytes:
    """Render one submission; `{submission}` in a field stands for its id."""
    own = {name: value.replace("{submission}", stored.result.submission) for name, value in fields.items()}
    return render(stored.result, about(own, os.environ), stored.at)


EXPORTER = Exporter(export, frozenset({"fields"}))
