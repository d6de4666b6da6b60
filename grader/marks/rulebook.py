"""Reads the folder in which an instructor describes a class: people, grading rules and individual agreements.

    class.csv                id, and optionally name, email, lms_id, section, group, submission
    policy.toml              deadline, late penalty, and the scale of marks
    times.csv                submission, time (with UTC offset)
    worksheet.csv            Moodle's grading worksheet, for its submission times
    extensions.csv           id, until, reason
    overrides.csv            id, points, reason, who, and kata and test to override only these points
    submission_metadata.yml  from Gradescope: submitters and times
    waive.toml               tests whose points everybody gets, or that are left out (see `waive`)
    pseudonyms.json          the key that `grader anonymize` wrote, if the class was graded under new names

Only class.csv is required.
"""

import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.marks.gradescope_metadata import Submitter, read_metadata
from grader.marks.platform_tables import WORKSHEET, read_worksheet_times
from grader.marks.pseudonyms import read_key
from grader.marks.roster import Person, read_roster
from grader.marks.rules import Extension, Override, Policy, add_zone
from grader.marks.tables import read_table, read_text
from grader.marks.waive import Waive, read_waivers
from grader.results.ids import METADATA

EXAMPLE = "2026-10-01T23:59:00-07:00"


@dataclass(frozen=True)
class Rulebook:
    """The contents of an instructor's folder. Extensions and overrides are keyed by person id."""

    people: tuple[Person, ...]
    policy: Policy
    zone: tzinfo
    times: Mapping[str, datetime]  # keyed by submission
    worksheet: Mapping[str, datetime]  # times from Moodle, keyed by person id
    extensions: Mapping[str, Extension]
    overrides: Mapping[str, tuple[Override, ...]]
    submitters: Mapping[str, Sequence[Submitter]]  # keyed by submission; empty if the platform does not list submitters
    names: Mapping[str, str]  # keyed by the new name that `grader anonymize` gave
    waive: Waive  # applies the waivers to a result

    def find_time(self, submission: str, person: Person) -> datetime | None:
        """Return the time at which a person handed in, or None if it is unknown."""
        return self.times.get(submission) or self.worksheet.get(person.id)


def read_rulebook(folder: Path) -> Rulebook:
    """Read an instructor's folder. Raises CallError with a one-line message for the first error."""
    people = tuple(read_roster(folder / "class.csv"))
    ids = {person.id for person in people}
    policy, zone = read_policy(folder / "policy.toml")
    downloaded = read_metadata(folder / METADATA)
    return Rulebook(
        people,
        policy,
        zone,
        {name: found.created_at for name, found in downloaded.items()} | read_times(folder / "times.csv"),
        read_worksheet(folder / WORKSHEET, people, policy, zone),
        read_extensions(folder / "extensions.csv", ids, zone),
        read_overrides(folder / "overrides.csv", ids),
        {name: found.submitters for name, found in downloaded.items()},
        read_key(folder / "pseudonyms.json"),
        read_waivers(folder),
    )


def read_policy(path: Path) -> tuple[Policy, tzinfo]:
    """Return the policy, and the time zone for times without a UTC offset. Raises CallError if the file is invalid."""
    if not path.exists():
        return Policy(), UTC
    try:
        policy = msgspec.toml.decode(read_text(path).removeprefix("\ufeff"), type=Policy)
    except msgspec.DecodeError as error:
        example = f"; write it without quotes, as in due = {EXAMPLE}" if "$.due" in str(error) else ""
        raise CallError(f"{path}: {error}{example}") from None
    try:
        zone = zoneinfo.ZoneInfo(policy.zone) if policy.zone else UTC
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise CallError(f"{path}: unknown time zone {policy.zone}; use a name such as Europe/Berlin") from None
    if policy.due and not policy.due.tzinfo and not policy.zone:
        raise CallError(f'{path}: due has no UTC offset; write {EXAMPLE} or add zone = "Europe/Berlin"')
    return policy, zone


def read_worksheet(path: Path, people: Sequence[Person], policy: Policy, zone: tzinfo) -> dict[str, datetime]:
    """Return the times in Moodle's worksheet, keyed by person id. Raises CallError if their time zone is unknown."""
    times = read_worksheet_times(path, people)
    if times and policy.due and not policy.zone:
        raise CallError(f'{path}: Moodle writes times without a time zone; add zone = "Europe/Berlin" to policy.toml')
    return {id: add_zone(time, zone) for id, time in times.items()}


def read_times(path: Path) -> dict[str, datetime]:
    """Return the time of each submission. Raises CallError if a time has no UTC offset, since it would be ambiguous."""
    times: dict[str, datetime] = {}
    for row in read_table(path, ("submission", "time")) if path.exists() else ():
        time = demand_time(row["time"], path)
        if time.tzinfo is None:
            raise CallError(f"{path}: {row['time']} has no UTC offset; write {EXAMPLE}, or Z for UTC")
        if times.setdefault(row["submission"], time) != time:
            raise CallError(f"{path}: there are two times for {row['submission']}")
    return times


def read_extensions(path: Path, ids: set[str], zone: tzinfo) -> dict[str, Extension]:
    """Return the extensions, keyed by person id. Raises CallError if the file is invalid."""
    found: dict[str, Extension] = {}
    for row in read_table(path, ("id", "until", "reason")) if path.exists() else ():
        demand_known(row["id"], ids, path)
        if row["id"] in found:
            raise CallError(f"{path}: there are two extensions for {row['id']}")
        found[row["id"]] = Extension(add_zone(demand_time(row["until"], path), zone), row["reason"])
    return found


def read_overrides(path: Path, ids: set[str]) -> dict[str, tuple[Override, ...]]:
    """Return the overrides, keyed by person id. Raises CallError, for example if two of them affect the same points."""
    found: dict[str, tuple[Override, ...]] = {}
    for row in read_table(path, ("id", "points", "reason", "who"), ("kata", "test")) if path.exists() else ():
        demand_known(row["id"], ids, path)
        if row["test"] and not row["kata"]:
            raise CallError(f"{path}: {row['id']} has a test {row['test']} but no kata; fill in the column kata")
        try:
            points = float(row["points"].replace(",", "."))
        except ValueError:
            raise CallError(f"{path}: the points of {row['id']} are {row['points']}, which is not a number") from None
        if not 0 <= points < float("inf"):
            raise CallError(f"{path}: {row['id']} has {row['points']} points; use 0 or a positive number")
        override = Override(row["kata"], row["test"], points, row["reason"], row["who"])
        if any(have_common_points(override, other) for other in found.get(row["id"], ())):
            raise CallError(f"{path}: {row['id']} has two overrides for the same points")
        found[row["id"]] = (*found.get(row["id"], ()), override)
    return found


def have_common_points(first: Override, second: Override) -> bool:
    """Return whether two overrides affect the same points. An override without a test or kata affects all points."""
    parts = zip((first.kata, first.test), (second.kata, second.test), strict=True)
    return all(not (a and b) or a == b for a, b in parts)


def demand_known(id: str, ids: set[str], path: Path) -> None:
    """Raise CallError if an id is not in the class list."""
    if id not in ids:
        raise CallError(f"{path}: {id} is not in class.csv")


def demand_time(text: str, path: Path) -> datetime:
    """Parse a time in ISO 8601 format.

    Raises CallError for any other text, and for years that are too large or too small for computations.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or not 1970 <= time.year < 2300:
        raise CallError(f"{path}: {text} is not a time; write it as {EXAMPLE}")
    return time
