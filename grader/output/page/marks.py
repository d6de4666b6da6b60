"""The marks of those whose submission it is, as a page tells them: step by step, with the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.marks.compute import Row, by_result, marks_of
from grader.marks.pseudonyms import read_key
from grader.marks.rules import Mark


@dataclass(frozen=True)
class Marked:
    """Somebody's mark, and who it is where several have handed in together and the page may say so."""

    who: str
    mark: Mark
    max_score: float | None


def read_marks(directory: Path, folder: Path) -> tuple[dict[str, tuple[Marked, ...]], list[str]]:
    """By submission as it is stored, and a line for whatever is to be settled by hand. Raises CallError."""
    rows, problems = marks_of(directory, folder)
    names = read_key(folder / "pseudonyms.json")
    found = by_result(rows, names)
    return {
        name: tuple(marked(row, named=len(found[name]) > 1 and not names) for row in found[name]) for name in found
    }, problems


def marked(row: Row, *, named: bool) -> Marked:
    """What a page tells of a row."""
    return Marked(row.person.id if named else "", row.mark, row.max_score)


def for_all(marks: Mapping[str, Sequence[Marked]], submission: str) -> tuple[Marked, ...]:
    """What everybody may read who handed this in: nothing where their marks differ, for reasons that are private."""
    found = marks.get(submission, ())
    same = {one.mark for one in found}
    return (Marked("", found[0].mark, found[0].max_score),) if len(same) == 1 else ()
