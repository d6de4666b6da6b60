"""Prepares the marks shown on a page, including each step of their computation and the reasons."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.marks.compute import compute_marks
from grader.marks.pseudonyms import read_key
from grader.marks.rules import Mark


@dataclass(frozen=True)
class ShownMark:
    """A mark. `who` is the name of the person if the submission is shared and the page may show names."""

    who: str
    mark: Mark
    max_score: float | None


def read_marks(directory: Path, folder: Path) -> tuple[dict[str, tuple[ShownMark, ...]], list[str]]:
    """Return the marks by stored submission, and a line for each problem to resolve by hand.

    Raises CallError if there are no results, or if a file of the class is invalid.
    """
    rows, problems = compute_marks(directory, folder)
    key = read_key(folder / "pseudonyms.json")
    pseudonyms = {submission: pseudonym for pseudonym, submission in key.items()}
    sizes = Counter(row.submission for row in rows)
    found: dict[str, tuple[ShownMark, ...]] = {}
    for row in rows:
        if row.submission:
            name = pseudonyms.get(row.submission, row.submission)
            who = row.person.id if sizes[row.submission] > 1 and not key else ""
            found[name] = (*found.get(name, ()), ShownMark(who, row.mark, row.max_score))
    return found, problems


def find_shared_mark(marks: Mapping[str, Sequence[ShownMark]], submission: str) -> tuple[ShownMark, ...]:
    """Return the mark that all members of a group may see.

    If their marks differ, return an empty tuple, because the reasons for a person's mark are private.
    """
    found = marks.get(submission, ())
    return (ShownMark("", found[0].mark, found[0].max_score),) if len({one.mark for one in found}) == 1 else ()
