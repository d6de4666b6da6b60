"""Assigns each submission an id: its name, or if others may have the same name, its name and a digest of its path."""

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.base.text import MOST_LINE, quote
from grader.pipeline.archives import ENDINGS, FOREIGN_ENDINGS
from grader.pipeline.layouts import is_late
from grader.pipeline.trees import SubmissionError
from grader.results.ids import DIGEST, LONGEST, append_digest

RESERVED = (  # other names that are used in the results directory
    *(".", "..", ".slurm", ".seed", "gradebook.csv", "report.html", "items.csv", "diagnoses.csv"),
)
REMEDY = "rename it"
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # control characters, undecodable bytes, line separators


@dataclass(frozen=True)
class Entry:
    """A path, and the id under which its results are stored: its name."""

    id: str
    path: Path
    files: tuple[tuple[str, Path], ...] = ()  # names and paths of loose files in a shared folder

    @property
    def label(self) -> str:
        """The name of the entry in messages."""
        return quote(str(self.path / self.id if self.files else self.path), MOST_LINE)

    @property
    def origin(self) -> str:
        """The absolute path that the submission comes from, in printable form."""
        path = self.path / self.id if self.files else self.path
        return quote(
            str(path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve()), MOST_LINE
        )

    @property
    def late_by_platform(self) -> bool:
        """Whether the platform has marked a file of the submission as late, in its name."""
        return any(is_late(path.name) for path in (self.path, *(path for _, path in self.files)))


@dataclass(frozen=True)
class Refusal:
    """An entry that is not graded, and the reason. All strings are single printable lines of limited length."""

    entry: Entry
    error: SubmissionError

    @property
    def reason(self) -> str:
        """The reason for the refusal."""
        return str(self.error)

    def __str__(self) -> str:
        return f"{self.entry.label}: {self.reason}"


def assign_ids(
    paths: Sequence[Path], loose: Mapping[tuple[Path, str], Sequence[tuple[str, Path]]] = {}
) -> tuple[list[Entry], list[Refusal]]:
    """Return an entry for each path and each set of loose files, or a refusal if the name can't be used as an id.

    Duplicate paths are ignored. No submission can take the id of another one: a digest of the path is added to the id
    if several submissions have the same name, if submissions in different folders have names that are equal on some
    systems, or if the name already looks as if it ended with a digest.
    """
    entries = [Entry(identify(path), path) for path in paths]
    entries += [Entry(id, folder, tuple(sorted(files))) for (folder, id), files in loose.items()]
    similar: dict[str, dict[object, Entry]] = {}
    refused: list[Refusal] = []
    for entry in entries:
        if problem := find_name_problem(entry.id):
            refused.append(refuse_name(entry, problem))
        else:
            similar.setdefault(fold(entry.id), {}).setdefault(find_file(entry), entry)
    named = [
        add_digest(entry) if is_ambiguous([*found.values()]) or DIGEST.search(entry.id) else entry
        for found in similar.values()
        for entry in found.values()
    ]
    return named, refused


def identify(path: Path) -> str:
    """Return the name of a submission, without an archive extension and in composed Unicode form (NFC).

    The path does not have to exist.
    """
    name = unicodedata.normalize("NFC", (path if path.name not in ("", "..") else path.resolve()).name)
    ending = next((ending for ending in (*ENDINGS, *FOREIGN_ENDINGS) if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def is_ambiguous(similar: Sequence[Entry]) -> bool:
    """Return whether similar ids may be confused, because some are equal or they come from different folders."""
    folders = {entry.path if entry.files else entry.path.parent for entry in similar}
    return len({entry.id for entry in similar}) < len(similar) or len(folders) > 1


def find_file(entry: Entry) -> object:
    """Return a key that is the same for all paths to one file."""
    path = entry.files[0][1] if entry.files else entry.path
    try:
        found = path.lstat()  # a link is different from its target, and is rejected when it is read
    except OSError:
        return path
    return found.st_dev, found.st_ino


def refuse_name(entry: Entry, problem: str) -> Refusal:
    """Return a refusal with a unique id, which consists of the legible part of the name and a digest of the path."""
    legible = re.sub(r"[^\w.-]+", "_", entry.id)[:40]
    return Refusal(
        add_digest(replace(entry, id=f"refused-{legible}")),
        SubmissionError(problem if problem.endswith(REMEDY) else f"{problem}; {REMEDY}"),
    )


def add_digest(entry: Entry) -> Entry:
    """Add a digest of the path to the id, so that no other submission can have this id."""
    path = entry.files[0][1] if entry.files else entry.path
    return replace(entry, id=append_digest(entry.id, path))


def find_name_problem(name: str) -> str | None:
    """Return why results can't be stored under a name, or None if they can."""
    if not name:
        return "the name consists only of a file extension"
    if sys.getfilesystemencoding() != "utf-8" and any(unicodedata.category(character) == "Cs" for character in name):
        return "its name is not ASCII; set a UTF-8 locale (such as LC_ALL=C.UTF-8), or rename it"
    if any(unicodedata.category(character) in UNPRINTABLE for character in name):
        return "its name has unprintable characters"
    if len(name.encode()) > LONGEST:
        return f"its name is longer than {LONGEST} bytes"
    if fold(name) in map(fold, RESERVED):
        return f"{name} is a reserved name in the results directory"
    return None


def fold(name: str) -> str:
    """Return a string that is the same for names that macOS or Windows may consider equal."""
    return unicodedata.normalize("NFC", name.casefold()).rstrip(". ")
