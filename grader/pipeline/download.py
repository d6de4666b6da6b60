"""Finds the submissions in a folder that an instructor has downloaded from a platform."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.errors import CallError
from grader.marks.gradescope import METADATA
from grader.pipeline.archives import ENDINGS
from torchkata.course import course

IGNORED = (
    METADATA,
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
    "__MACOSX",
)  # added by platforms and systems
CANVAS = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<user>\d+)_\d+_(?P<file>.+?)(?:-\d+)?\.py")  # -1 is a resubmission


@dataclass(frozen=True)
class Download:
    """The submissions that were found, and the names of other files."""

    submissions: list[Path]
    passed_over: list[str] = field(default_factory=list)
    loose: dict[str, dict[str, Path]] = field(default_factory=dict)  # files outside folders, by id and file name


def find_submissions(paths: Sequence[Path]) -> Download:
    """Return the submissions that these paths mean.

    A single directory without katas means the directories and archives in it, if at least two of them have katas, or if
    the directory has Gradescope's metadata or files named by Canvas. Raises CallError if no submission is found.
    """
    kept = [path for path in paths if path.name not in IGNORED]
    folder = kept[0] if len(kept) == 1 else None
    if folder is None or not folder.is_dir() or folder.is_symlink() or has_katas(folder):
        loose = find_loose_files(kept)
        return Download(demand_submissions(exclude_loose(kept, loose), loose, paths), [], loose)
    members = sorted(path for path in folder.iterdir() if path.name not in IGNORED and path.name[0] != ".")
    found, loose = [path for path in members if path.is_dir() or is_archive(path)], find_loose_files(members)
    if sum(map(may_hold_katas, found)) < 2 and not loose and not (folder / METADATA).exists():
        return Download(kept)
    passed_over = [path.name for path in exclude_loose(members, loose) if path not in found]
    return Download(demand_submissions(found, loose, paths), passed_over, loose)


def find_loose_files(paths: Iterable[Path]) -> dict[str, dict[str, Path]]:
    """Return Python files that Canvas has saved side by side: by submission id (see `roster`), then by file name.

    Raises CallError if two files of one student have the same name.
    """
    found: dict[str, dict[str, Path]] = {}
    for path in paths:
        if (named := CANVAS.fullmatch(path.name)) and path.is_file():
            files = found.setdefault(f"{named['name']}_{named['user']}_files", {})
            other = files.setdefault(f"{named['file']}.py", path)
            if other != path:
                raise CallError(f"{other} and {path}: both are {named['file']}.py of one submission; remove one")
    return found


def exclude_loose(paths: Iterable[Path], loose: dict[str, dict[str, Path]]) -> list[Path]:
    """Return the paths that are not loose files."""
    taken = {path for files in loose.values() for path in files.values()}
    return [path for path in paths if path not in taken]


def demand_submissions(found: list[Path], loose: dict[str, dict[str, Path]], paths: Sequence[Path]) -> list[Path]:
    """Return `found`. Raises CallError if there are no submissions at all."""
    if not found and not loose:
        raise CallError(f"{', '.join(map(str, paths))}: no submission in it")
    return found


def may_hold_katas(path: Path) -> bool:
    """Return whether a path is an archive, or a folder with katas in it or one level down."""
    return is_archive(path) or has_katas(path) or any(is_archive(inner) or has_katas(inner) for inner in path.iterdir())


def is_archive(path: Path) -> bool:
    """Return whether a name has the ending of an archive."""
    return path.name.lower().endswith(ENDINGS)


def has_katas(folder: Path) -> bool:
    """Return whether a folder has an `assignment/` or a kata's file."""
    return any((folder / name).exists() for name in ("assignment", *(f"{kata}.py" for kata in course().katas)))
