"""The folder in which an instructor keeps a class: its people, its rules, and what was agreed with whom.

    class.csv        id; name, email, lms_id, section, group, submission where they are known
    policy.toml      when it is due, and what lateness takes
    times.csv        submission, time: when each was handed in, with the offset of its zone
    extensions.csv   id, until, reason
    overrides.csv    id, points, reason, who; kata and test for the points of a part
    submission_metadata.yml, as Gradescope writes it: whose each submission is, and when it was handed in
    pseudonyms.json  where the class was graded under pseudonyms, the key to them

Only the first has to be there.
"""

import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.marks.gradescope import METADATA, Submitter, read_metadata
from grader.marks.pseudonyms import read_key
from grader.marks.roster import Person, read_roster
from grader.marks.rules import Extension, Override, Policy, aware
from grader.marks.tables import read_table, text_of


@dataclass(frozen=True)
class Rulebook:
    """All of it; what belongs to somebody by the id of the class list."""

    people: tuple[Person, ...]
    policy: Policy
    zone: tzinfo
    times: Mapping[str, datetime]  # by submission
    extensions: Mapping[str, Extension]
    overrides: Mapping[str, tuple[Override, ...]]
    submitters: Mapping[str, Sequence[Submitter]]  # by submission, where its platform says so
    names: Mapping[str, str]  # by pseudonym


def read_rulebook(folder: Path) -> Rulebook:
    """Read the folder. Raises CallError for the first thing that is wrong, in one line."""
    people = tuple(read_roster(folder / "class.csv"))
    ids = {person.id for person in people}
    policy, zone = read_policy(folder / "policy.toml")
    downloaded = read_metadata(folder / METADATA)
    return Rulebook(
        people,
        policy,
        zone,
        {name: one.created_at for name, one in downloaded.items()} | read_times(folder / "times.csv"),
        read_extensions(folder / "extensions.csv", ids, zone),
        read_overrides(folder / "overrides.csv", ids),
        {name: one.submitters for name, one in downloaded.items()},
        read_key(folder / "pseudonyms.json"),
    )


def read_policy(path: Path) -> tuple[Policy, tzinfo]:
    """The rules, and the zone of times that do not say theirs. Raises CallError."""
    if not path.exists():
        return Policy(), UTC
    try:
        policy = msgspec.toml.decode(text_of(path).removeprefix("\ufeff"), type=Policy)
    except msgspec.DecodeError as error:
        raise CallError(f"{path}: {error}") from None
    try:
        zone = zoneinfo.ZoneInfo(policy.zone) if policy.zone else UTC
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise CallError(f"{path}: there is no time zone {policy.zone}; they are called as Europe/Berlin is") from None
    if policy.due and not policy.due.tzinfo and not policy.zone:
        raise CallError(f'{path}: due has no offset; write one (2026-10-01T23:59:00-07:00) or zone = "Europe/Berlin"')
    return policy, zone


def read_times(path: Path) -> dict[str, datetime]:
    """When each submission was handed in. Raises CallError for a time without an offset: it could be anybody's."""
    if not path.exists():
        return {}
    times: dict[str, datetime] = {}
    for row in read_table(path, ("submission", "time")):
        time = time_of(row["time"], path)
        if time.tzinfo is None:
            raise CallError(f"{path}: {row['time']} has no offset; write 2026-10-01T23:59:00-07:00, or Z for UTC")
        if times.setdefault(row["submission"], time) != time:
            raise CallError(f"{path}: there are two times for {row['submission']}")
    return times


def read_extensions(path: Path, ids: set[str], zone: tzinfo) -> dict[str, Extension]:
    """Who may hand in later. Raises CallError."""
    if not path.exists():
        return {}
    found: dict[str, Extension] = {}
    for row in read_table(path, ("id", "until", "reason")):
        demand_known(row["id"], ids, path)
        if row["id"] in found:
            raise CallError(f"{path}: there are two extensions for {row['id']}")
        found[row["id"]] = Extension(aware(time_of(row["until"], path), zone), row["reason"])
    return found


def read_overrides(path: Path, ids: set[str]) -> dict[str, tuple[Override, ...]]:
    """What was put right by hand. Raises CallError for two about the same points: which is right, nobody knows."""
    if not path.exists():
        return {}
    found: dict[str, tuple[Override, ...]] = {}
    for row in read_table(path, ("id", "points", "reason", "who"), ("kata", "test")):
        demand_known(row["id"], ids, path)
        if row["test"] and not row["kata"]:
            raise CallError(f"{path}: {row['id']} has a test {row['test']} without its kata")
        try:
            points = float(row["points"].replace(",", "."))
        except ValueError:
            raise CallError(f"{path}: {row['id']} has points {row['points']}, which is no number") from None
        if not 0 <= points < float("inf"):
            raise CallError(f"{path}: {row['id']} has {row['points']} points; they are 0 or more")
        one = Override(row["kata"], row["test"], points, row["reason"], row["who"])
        for other in found.get(row["id"], ()):
            if overlap(one, other):
                raise CallError(f"{path}: {row['id']} has two overrides of the same points")
        found[row["id"]] = (*found.get(row["id"], ()), one)
    return found


def overlap(one: Override, other: Override) -> bool:
    """Whether both are about the same points, or one's are part of the other's."""
    if not (one.kata and other.kata):
        return True
    return one.kata == other.kata and (not (one.test and other.test) or one.test == other.test)


def demand_known(id: str, ids: set[str], path: Path) -> None:
    """Raise CallError for an id that is not in the class list."""
    if id not in ids:
        raise CallError(f"{path}: {id} is not in class.csv")


def time_of(text: str, path: Path) -> datetime:
    """A time as ISO 8601 writes it. Raises CallError."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise CallError(f"{path}: {text} is no time; write 2026-10-01T23:59:00-07:00") from None
