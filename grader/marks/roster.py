"""Reads the class list and matches submissions to people. Ambiguous matches are reported, never guessed."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from grader.base.errors import CallError
from grader.marks.gradescope import Submitter
from grader.marks.tables import read_table
from grader.results.ids import DIGEST

# files downloaded from Canvas: name_user_attachment_file
CANVAS = re.compile(r"[^_]+(?:_late)?_(?P<lms_id>\d+)_(?:\d+_.+|files)")
MOODLE = re.compile(r"(?P<name>.+)_\d+_assignsubmission_(?:file|onlinetext)_?")

ENTER = "enter it in the owner's `submission` column"


@dataclass(frozen=True)
class Person:
    """A row in the class list."""

    id: str
    name: str = ""
    email: str = ""
    lms_id: str = ""  # id in the learning management system
    section: str = ""
    group: str = ""  # the members of a group share a submission
    submission: str = ""  # set by the instructor if the name of the submission does not identify the person


OPTIONAL = tuple(column.name for column in fields(Person) if column.name != "id")


@dataclass(frozen=True)
class Matching:
    """The submission of each person, and a line for each submission without a unique owner."""

    submissions: dict[str, str]  # keyed by person id
    problems: tuple[str, ...]


def read_roster(path: Path) -> list[Person]:
    """Return the people in the class list. Raises CallError."""
    people = [Person(**row) for row in read_table(path, ("id",), OPTIONAL)]
    for column in ("id", "email", "lms_id"):
        seen: set[str] = set()
        for person in people:
            value = normalize(getattr(person, column))
            if value and value in seen:
                raise CallError(f"{path}: two people have the {column} {getattr(person, column)}")
            seen.add(value)
    return people


def match_submissions(
    people: Sequence[Person],
    submissions: Sequence[str],
    submitters: Mapping[str, Sequence[Submitter]] = {},
    unreadable: Collection[str] = (),
) -> Matching:
    """Match submissions to people by the platform's list of submitters or, without a list, by name.

    The submission of a group counts for all of its members. An `unreadable` submission counts only if a person has no
    readable one.
    """
    claimed: dict[str, list[str]] = {person.id: [] for person in people}
    problems: list[str] = []
    for submission in submissions:
        owners = find_owners(submission, people)
        if submission in submitters and not any(person.submission for person in owners):
            for submitter in submitters[submission]:
                known = find_people(submitter, people)
                if len(known) == 1:
                    claimed[known[0].id].append(submission)
                else:
                    who = f"could be {' or '.join(person.id for person in known)}" if known else "is not"
                    name = f"{submitter.name} ({submitter.email})"
                    problems.append(f"{submission}: {name} {who} in the class list")
        elif not owners:
            problems.append(f"{submission}: no owner in the class list; {ENTER}")
        elif len(owners) > 1 and len({person.group for person in owners} - {""}) != 1:
            names = ", ".join(person.id for person in owners)
            problems.append(f"{submission}: could belong to {names}; {ENTER}")
        else:
            for person in owners:
                claimed[person.id].append(submission)
    for person in people:
        handed_in = claimed[person.id]
        claimed[person.id] = found = choose_submissions(person, handed_in, unreadable)
        others = [name for name in handed_in if name not in found]
        problems += [f"{name}: does not count, because {person.id} has {found[0]}" for name in others]
        if len(found) > 1:
            names = ", ".join(found)
            problems.append(
                f"{person.id}: has several submissions ({names}); enter one of them in their `submission` column"
            )
    return Matching({id: found[0] for id, found in claimed.items() if len(found) == 1}, tuple(problems))


def choose_submissions(person: Person, submissions: list[str], unreadable: Collection[str]) -> list[str]:
    """Return the submissions that may count: the readable ones.

    If their names differ only in case, spacing or digest and exactly one of them is the person's id, email or
    `submission`, return only that one.
    """
    found = [name for name in submissions if name not in unreadable] or submissions
    exact = [name for name in found if DIGEST.sub("", name) in (person.id, person.email, person.submission)]
    same = len({normalize(DIGEST.sub("", name)) for name in found}) == 1
    return exact if same and len(exact) == 1 else found


def find_owners(submission: str, people: Sequence[Person]) -> list[Person]:
    """Return the possible owners of a submission, by the first identifier in its name that matches anyone."""
    for identifier in identifiers_in(normalize(submission)):
        owners = [person for person in people if identifier in identifiers_of(person)]
        if owners:
            groups = {person.group for person in owners} - {""}
            named = any(person.submission for person in owners)
            return owners if named or len(groups) != 1 else [one for one in people if one.group in groups]
    name = DIGEST.sub("", normalize(submission))
    return [person for person in people if name.endswith(f"-{normalize(person.id)}")]


def find_people(submitter: Submitter, people: Sequence[Person]) -> list[Person]:
    """Return the people who could be this submitter, by the most reliable identifier that matches anyone."""
    email, sid = submitter.email, submitter.sid
    for column, value in (("email", email), ("id", sid), ("lms_id", sid), ("id", email), ("name", submitter.name)):
        known = [person for person in people if normalize(getattr(person, column)) == normalize(str(value))]
        if value is not None and known:
            return known
    return []


def identifiers_in(submission: str) -> Iterator[tuple[str, str]]:
    """Yield the (column, value) pairs of the class list that the name of a submission could refer to."""
    yield "submission", submission
    submission = DIGEST.sub("", submission)
    for column in ("submission", "id", "email", "lms_id", "group", "account"):
        yield column, submission
    if found := CANVAS.fullmatch(submission):
        yield "lms_id", found["lms_id"]
    if found := MOODLE.fullmatch(submission):
        yield "name", found["name"]


def identifiers_of(person: Person) -> set[tuple[str, str]]:
    """Return the (column, value) pairs that identify a person. If `submission` is set, it is the only one."""
    if person.submission:
        return {("submission", normalize(person.submission))}
    columns = {column: getattr(person, column) for column in ("id", "email", "lms_id", "group", "name")}
    columns["account"] = person.email.partition("@")[0]
    return {(column, normalize(value)) for column, value in columns.items() if value}


def normalize(text: str) -> str:
    """Normalize the case, spacing and Unicode form of a text."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
