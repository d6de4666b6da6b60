"""Assigns each submission an id, such that no file system takes two of them for the same name."""

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import CallError
from grader.pipeline.submission import identify

RESERVED = (  # other names in the directory of results
    *(".", "..", ".slurm", ".seed", "gradebook.csv", "report.html", "items.csv", "diagnoses.csv"),
)
LONGEST = 255  # bytes of a name on nearly every file system
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # control characters, undecodable bytes, line separators


@dataclass(frozen=True)
class Entry:
    """A path, and the id that its results are stored under: its name or a pseudonym."""

    id: str
    path: Path
    files: tuple[tuple[str, Path], ...] = ()  # by name, if they are loose files in a folder with others' files

    def anonymize(self, problem: str) -> str:
        """Return the text of a problem, with the path replaced if the id is a pseudonym."""
        return problem if self.id == identify(self.path) else problem.replace(str(self.path), self.id)


def assign_ids(paths: Sequence[Path], loose: Mapping[str, Mapping[str, Path]] = {}) -> tuple[list[Entry], list[str]]:
    """Return an entry for each path and each set of loose files, and a line for each without a usable name.

    A path that is given twice counts once. Raises CallError for a missing path, and for two ids that differ only in
    case or trailing dots: on another system they would be the same directory.
    """
    entries: dict[str, tuple[Entry, os.stat_result]] = {}
    refused: list[str] = []
    named = [Entry(id, next(iter(files.values())).parent, tuple(sorted(files.items()))) for id, files in loose.items()]
    for entry in [*(Entry(identify(path), path) for path in paths), *named]:
        path = entry.files[0][1] if entry.files else entry.path
        try:
            found = path.lstat()  # a link is not its target, and is refused when it is read
        except FileNotFoundError:
            raise CallError(f"{path}: no such file or directory") from None
        except OSError as error:
            raise CallError(f"{path}: can't be accessed ({error.strerror})") from None
        if (problem := find_name_problem(entry.id)) is not None:
            refused.append(f"{str(path)!r}: {problem}; rename it")
            continue
        other, before = entries.setdefault(fold(entry.id), (entry, found))
        if not os.path.samestat(before, found):
            raise CallError(describe_clash(other, entry))
    return [entry for entry, _ in entries.values()], refused


def find_name_problem(name: str) -> str | None:
    """Return why results can't be stored under a name; None if they can."""
    if not name:
        return "the name is empty apart from its ending"
    if any(unicodedata.category(character) in UNPRINTABLE for character in name):
        return "its name has unprintable characters"
    if len(name.encode()) > LONGEST:
        return f"its name is longer than {LONGEST} bytes"
    if fold(name) in map(fold, RESERVED):
        return f"{name} is a reserved name in the directory of results"
    return None


def fold(name: str) -> str:
    """Return the same string for names that macOS or Windows may consider equal."""
    return unicodedata.normalize("NFC", name.casefold()).rstrip(". ")


def describe_clash(one: Entry, other: Entry) -> str:
    """Return the error message for two submissions that would share a directory."""
    names = f"called {one.id}" if one.id == other.id else f"called {one.id} and {other.id}, equal on some systems"
    return f"two submissions are {names}: {one.path} and {other.path}; rename one"
