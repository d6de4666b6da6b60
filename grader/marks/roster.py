"""Reads the class list and matches submissions to people. Ambiguous matches are reported, never guessed."""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeAlias

from grader.base.errors import CallError
from grader.marks.gradescope_metadata import Submitter
from grader.marks.tables import read_table
from grader.results.ids import CANVAS, DIGEST, MOODLE

Identifier: TypeAlias = tuple[str, str]  # the name of a column, and a normalized value
Index: TypeAlias = Mapping[Identifier, Sequence["Person"]]

ENTER = "enter it in the owner's `submission` column"


@dataclass(frozen=True)
class Person:
    """A row in the class list."""

    id: str
    name: str = ""
    email: str = ""
    lms_id: str = ""  # id in the learning management system, or user name on GitHub
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
    """Return the people in the class list. Raises CallError if it is invalid, for example if an id occurs twice."""
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
    by_identifier, by_cell = index_people(people, identifiers_of), index_people(people, cells_of)
    problems: list[str] = []
    for submission in submissions:
        owners = find_owners(submission, by_identifier, by_cell)
        if submission in submitters and not any(person.submission for person in owners):
            for submitter in submitters[submission]:
                known = find_people(submitter, by_cell)
                if len(known) == 1:
                    claimed[known[0].id].append(submission)
                else:
                    who = f"could be {' or '.join(person.id for person in known)}" if known else "is not"
                    name = f"{submitter.name} ({submitter.email})"
                    problems.append(f"{submission}: {name} {who} in the class list")
        elif not owners:
            shorter = [person.id for person in people if person.id == DIGEST.sub("", submission).lstrip("0")]
            guess = f", only {shorter[0]}: has a spreadsheet removed the zeros?" if shorter else f"; {ENTER}"
            problems.append(f"{submission}: no owner in the class list{guess}")
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
        problems += [f"{name}: does not count, because {found[0]} counts for {person.id}" for name in others]
        if len(found) > 1:
            names = ", ".join(found)
            problems.append(
                f"{person.id}: has several submissions ({names}); enter one of them in their `submission` column"
            )
    return Matching({id: found[0] for id, found in claimed.items() if len(found) == 1}, tuple(problems))


def choose_submissions(person: Person, submissions: list[str], unreadable: Collection[str]) -> list[str]:
    """Return the submissions that may count, which are the readable ones.

    If their names differ only in case, spacing or digest and exactly one of them is the person's id, email or
    `submission`, return only that one.
    """
    found = [name for name in submissions if name not in unreadable] or submissions
    exact = [name for name in found if DIGEST.sub("", name) in (person.id, person.email, person.submission)]
    same = len({normalize(DIGEST.sub("", name)) for name in found}) == 1
    return exact if same and len(exact) == 1 else found


def index_people(people: Iterable[Person], keys: Callable[[Person], Iterable[Identifier]]) -> Index:
    """Return the people for each key, in the order of the class list."""
    found: dict[Identifier, list[Person]] = {}
    for person in people:
        for key in keys(person):
            found.setdefault(key, []).append(person)
    return found


def find_owners(submission: str, by_identifier: Index, by_cell: Index) -> Sequence[Person]:
    """Return the possible owners of a submission, by the first identifier in its name that matches anyone."""
    for identifier in identifiers_in(normalize(submission)):
        if owners := by_identifier.get(identifier, ()):
            groups = {normalize(person.group) for person in owners} - {""}
            named = any(person.submission for person in owners)
            return owners if named or len(groups) != 1 else by_cell["group", groups.pop()]
    name = DIGEST.sub("", normalize(submission))
    ends = [name[place + 1 :] for place, letter in enumerate(name) if letter == "-"]
    return [person for end in ends for column in ("id", "lms_id") for person in by_cell.get((column, end), ())]


def find_people(submitter: Submitter, by_cell: Index) -> Sequence[Person]:
    """Return the people who could be this submitter, by the most reliable identifier that matches anyone."""
    email, sid = submitter.email, submitter.sid
    for column, value in (("email", email), ("id", sid), ("lms_id", sid), ("id", email), ("name", submitter.name)):
        if value is not None and (known := by_cell.get((column, normalize(str(value))))):
            return known
    return ()


def identifiers_in(submission: str) -> Iterator[Identifier]:
    """Yield the (column, value) pairs of the class list that the name of a submission could refer to."""
    yield "submission", submission
    submission = DIGEST.sub("", submission)
    for column in ("submission", "id", "email", "lms_id", "group", "account"):
        yield column, submission
    if found := CANVAS.fullmatch(submission):
        yield "lms_id", found["lms_id"]
    if found := MOODLE.fullmatch(submission):
        yield "name", found["name"]


def identifiers_of(person: Person) -> set[Identifier]:
    """Return the (column, value) pairs that identify a person. If `submission` is filled in, return only this pair."""
    if person.submission:
        return {("submission", normalize(person.submission))}
    columns = {column: getattr(person, column) for column in ("id", "email", "lms_id", "group", "name")}
    columns["account"] = person.email.partition("@")[0]
    return {(column, normalize(value)) for column, value in columns.items() if value}


def cells_of(person: Person) -> Iterator[Identifier]:
    """Yield the name and the normalized value (which can be empty) of each column for a person."""
    for column in ("id", "email", "lms_id", "group", "name"):
        yield column, normalize(getattr(person, column))


def is_named_late(submission: str) -> bool:
    """Return whether Canvas has marked a submission as late in its name."""
    found = CANVAS.fullmatch(DIGEST.sub("", submission))
    return bool(found and found["late"])


def normalize(text: str) -> str:
    """Normalize the case, spacing and Unicode form of a text."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
