"""Finds the submissions in a folder that an instructor downloaded from a platform.

Students may control the contents of the folder. Therefore this module raises no error for anything in it: anything
that can't be inspected is treated as a submission, and is rejected later, when it is read.
"""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.errors import CallError
from grader.marks.gradescope import METADATA
from grader.pipeline.archives import ENDINGS, SubmissionError
from grader.pipeline.submission import list_names, open_folder
from torchkata.course import course

IGNORED = (
    METADATA,
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
    "__MACOSX",
)  # files added by platforms and operating systems
CANVAS = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<user>\d+)_\d+_(?P<file>.+?)(?:-\d+)?\.py")  # -1: a resubmission


@dataclass(frozen=True)
class Download:
    """The submissions that were found, and the names of all other files."""

    submissions: list[Path]
    passed_over: list[str] = field(default_factory=list)
    loose: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)  # (name, path) by submission id


def find_submissions(paths: Sequence[Path]) -> Download:
    """Return the submissions that are found at these paths.

    Each path is a submission, with one exception: a single directory without katas is treated as the download of a
    class if at least two of its entries contain katas, or if it contains Gradescope's metadata or files named by
    Canvas. Its entries are then the submissions, except for regular files that are not archives. Raises CallError if a
    path is missing or no submission is found.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise CallError(f"{path}: no such file or directory")
    kept = [path for path in paths if path.name not in IGNORED]
    folder = kept[0] if len(kept) == 1 else None
    names = list_folder(folder) if folder is not None and get_type(folder) == stat.S_IFDIR else []
    members = found = kept
    if folder is not None and names and not has_katas(names):
        members = sorted(folder / name for name in names if name not in IGNORED and name[0] != ".")
        found = [path for path in members if is_archive(path.name) or get_type(path) != stat.S_IFREG]
    loose = find_loose_files(members)
    if members is not kept and sum(map(may_hold_katas, found)) < 2 and not loose and METADATA not in names:
        return Download(kept)
    loose_paths = {path for files in loose.values() for _, path in files}
    found = [path for path in found if path not in loose_paths]
    if not found and not loose:
        raise CallError(f"{', '.join(map(str, paths))}: no submissions found")
    taken = {*found, *loose_paths}
    return Download(found, [path.name for path in members if path not in taken], loose)


def list_folder(folder: Path) -> list[str]:
    """Return the names in a folder, or nothing if the folder can't be read."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def find_loose_files(paths: Iterable[Path]) -> dict[str, list[tuple[str, Path]]]:
    """Return (name, path) of the Python files that Canvas stored in one folder, keyed by submission (see `roster`)."""
    found: dict[str, list[tuple[str, Path]]] = {}
    for path in dict.fromkeys(paths):
        if (named := CANVAS.fullmatch(path.name)) and get_type(path) == stat.S_IFREG:
            found.setdefault(f"{named['name']}_{named['user']}_files", []).append((f"{named['file']}.py", path))
    return found


def may_hold_katas(path: Path) -> bool:
    """Return whether a path may contain katas.

    This is true for an archive, a folder with katas (directly or one level down), and a path that can't be read.
    """
    if is_archive(path.name):
        return True
    try:
        with open_folder(None, path) as folder:
            names = list_names(folder)
            return has_katas(names) or any(is_archive(name) or folder_has_katas(folder, name) for name in names)
    except NotADirectoryError:
        return False
    except (OSError, SubmissionError):
        return True


def folder_has_katas(parent: int, name: str) -> bool:
    """Return whether `name` in `parent` is a folder (not a link) with katas. Raises OSError if it can't be read."""
    try:
        with open_folder(parent, name) as folder:
            return has_katas(list_names(folder))
    except NotADirectoryError:
        return False


def get_type(path: Path) -> int:
    """Return the file type as reported by `lstat`, which does not follow links, or 0 if it can't be determined."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return 0


def is_archive(name: str) -> bool:
    """Return whether a name has an archive extension."""
    return name.lower().endswith(ENDINGS)


def has_katas(names: Iterable[str]) -> bool:
    """Return whether the names in a folder include `assignment/` or the file of a kata."""
    return not {"assignment", *(f"{kata}.py" for kata in course().katas)}.isdisjoint(names)
