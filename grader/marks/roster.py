"""Who is who: the class list, and which submission is whose. What does not match is named, and never guessed."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from grader.base.errors import CallError
from grader.marks.gradescope import Submitter
from grader.marks.tables import read_table

CANVAS = re.compile(r"[^_]+(?:_late)?_(?P<lms_id>\d+)_(?:\d+_.+|files)")  # name_user_attachment_file in its download
MOODLE = re.compile(r"(?P<name>.+)_\d+_assignsubmission_(?:file|onlinetext)_?")


@dataclass(frozen=True)
class Person:
    """A row of the class list."""

    id: str
    name: str = ""
    email: str = ""
    lms_id: str = ""  # the number by which the learning management system knows them
    section: str = ""
    group: str = ""  # which hands in together
    submission: str = ""  # whose it is, where its name does not say so


OPTIONAL = tuple(column.name for column in fields(Person) if column.name != "id")


@dataclass(frozen=True)
class Matching:
    """Whose submission is whose, and a line for everything that is nobody's or could be several people's."""

    submissions: dict[str, str]  # by a person's id
    problems: tuple[str, ...]


def read_roster(path: Path) -> list[Person]:
    """The class. Raises CallError."""
    people = [Person(**row) for row in read_table(path, ("id",), OPTIONAL)]
    for column in ("id", "email", "lms_id"):
        seen: set[str] = set()
        for one in people:
            value = folded(getattr(one, column))
            if value and value in seen:
                raise CallError(f"{path}: two people have the {column} {getattr(one, column)}")
            seen.add(value)
    return people


def match(
    people: Sequence[Person], submissions: Sequence[str], submitters: Mapping[str, Sequence[Submitter]] = {}
) -> Matching:
    """Each submission's owner by what its platform says, else by its name; a group's is all of its members'."""
    claimed: dict[str, list[str]] = {person.id: [] for person in people}
    problems: list[str] = []
    for submission in submissions:
        owners = owners_of(submission, people)
        if submission in submitters and not any(person.submission for person in owners):
            for one in submitters[submission]:
                known = people_known_as(one, people)
                if len(known) == 1:
                    claimed[known[0].id].append(submission)
                else:
                    who = "nobody" if not known else f"could be {', '.join(person.id for person in known)}"
                    problems.append(f"{submission}: {one.name} ({one.email}) is {who} in the class list")
        elif not owners:
            problems.append(f"{submission}: nobody in the class list; name it in their column submission")
        elif len(owners) > 1 and len({person.group for person in owners} - {""}) != 1:
            names = ", ".join(person.id for person in owners)
            problems.append(f"{submission}: could be of {names}; name it in one's column submission")
        else:
            for person in owners:
                claimed[person.id].append(submission)
    for id, handed_in in claimed.items():
        if len(handed_in) > 1:
            problems.append(f"{id}: has {', '.join(handed_in)}; name one in their column submission")
    return Matching({id: found[0] for id, found in claimed.items() if len(found) == 1}, tuple(problems))


def owners_of(submission: str, people: Sequence[Person]) -> list[Person]:
    """Whose it may be, by the surest sign that somebody has: a column that names it, a number, a name."""
    for sign in signs(folded(submission)):
        owners = [person for person in people if sign in signs_of(person)]
        if owners:
            groups = {person.group for person in owners} - {""}
            named = any(person.submission for person in owners)
            return owners if named or len(groups) != 1 else [one for one in people if one.group in groups]
    return [person for person in people if folded(submission).endswith(f"-{folded(person.id)}")]


def people_known_as(one: Submitter, people: Sequence[Person]) -> list[Person]:
    """Who it may be, by the surest sign that somebody has."""
    said = (("email", one.email), ("id", one.sid), ("lms_id", one.sid), ("id", one.email), ("name", one.name))
    for column, value in said:
        known = [person for person in people if folded(getattr(person, column)) == folded(str(value))]
        if value is not None and known:
            return known
    return []


def signs(submission: str) -> Iterator[tuple[str, str]]:
    """What a submission's name says, by the columns that say the same."""
    for column in ("submission", "id", "email", "lms_id", "group", "account"):
        yield column, submission
    if found := CANVAS.fullmatch(submission):
        yield "lms_id", found["lms_id"]
    if found := MOODLE.fullmatch(submission):
        yield "name", found["name"]


def signs_of(person: Person) -> set[tuple[str, str]]:
    """By which a submission can be known for theirs; one that is named for them is theirs by nothing else."""
    if person.submission:
        return {("submission", folded(person.submission))}
    columns = {column: getattr(person, column) for column in ("id", "email", "lms_id", "group", "name")}
    columns["account"] = person.email.partition("@")[0]
    return {(column, folded(value)) for column, value in columns.items() if value}


def folded(text: str) -> str:
    """The same for all ways to write a name that only computers tell apart."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
