"""Who is to be graded: an id for every path, and no two that a file system could take for one."""

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import CallError
from grader.pipeline.submission import identify

RESERVED = (  # what stands beside the results
    *(".", "..", ".slurm", ".seed", "gradebook.csv", "report.html", "items.csv", "diagnoses.csv"),
)
LONGEST = 255  # bytes of a name, on nearly every file system
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # control characters, bytes that are no text, line separators


@dataclass(frozen=True)
class Entry:
    """A path, and the id that its results are stored under: its name, or a pseudonym."""

    id: str
    path: Path
    files: tuple[tuple[str, Path], ...] = ()  # by name, where they are loose, in a folder with those of others

    def told(self, problem: str) -> str:
        """What is wrong with it, as somebody may read it who does not know whose it is."""
        return problem if self.id == identify(self.path) else problem.replace(str(self.path), self.id)


def with_ids(paths: Sequence[Path], loose: Mapping[str, Mapping[str, Path]] = {}) -> tuple[list[Entry], list[str]]:
    """An entry for each path and for the loose files of each id, and a line for each that has no usable name.

    A path that is given twice counts once. Raises CallError for a path that isn't there, and for two ids that differ in
    case or trailing dots at most: on another system they would be one directory.
    """
    entries: dict[str, tuple[Entry, os.stat_result]] = {}
    refused: list[str] = []
    named = [Entry(id, next(iter(files.values())).parent, tuple(sorted(files.items()))) for id, files in loose.items()]
    for entry in [*(Entry(identify(path), path) for path in paths), *named]:
        path = entry.files[0][1] if entry.files else entry.path
        try:
            found = path.lstat()  # a link is another hand-in than what it leads to, and is refused when it is read
        except FileNotFoundError:
            raise CallError(f"{path}: there is no such file or directory") from None
        except OSError as error:
            raise CallError(f"{path}: can't be looked at ({error.strerror})") from None
        if (problem := trouble_with(entry.id)) is not None:
            refused.append(f"{str(path)!r}: {problem}; rename it")
            continue
        other, before = entries.setdefault(folded(entry.id), (entry, found))
        if not os.path.samestat(before, found):
            raise CallError(clash(other, entry))
    return [entry for entry, _ in entries.values()], refused


def trouble_with(name: str) -> str | None:
    """Why no results can be stored under this name, if they can't."""
    if not name:
        return "there is no name before the ending"
    if any(unicodedata.category(character) in UNPRINTABLE for character in name):
        return "its name has characters that can't be printed"
    if len(name.encode()) > LONGEST:
        return f"its name is longer than {LONGEST} bytes"
    if folded(name) in map(folded, RESERVED):
        return f"{name} is the name of something else among the results"
    return None


def folded(name: str) -> str:
    """The same for names that macOS or Windows may take for one."""
    return unicodedata.normalize("NFC", name.casefold()).rstrip(". ")


def clash(one: Entry, other: Entry) -> str:
    """The line about two submissions that would share a directory."""
    names = f"called {one.id}" if one.id == other.id else f"called {one.id} and {other.id}, one name to some systems"
    return f"two submissions are {names}: {one.path} and {other.path}; rename one"
