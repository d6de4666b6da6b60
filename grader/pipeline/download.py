"""A folder of submissions, as platforms let an instructor download them all, stands for what is in it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.errors import CallError
from grader.marks.gradescope import METADATA
from grader.pipeline.archives import ENDINGS
from torchkata.course import course

OF_NOBODY = (METADATA, ".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX")  # what platforms and systems leave about
CANVAS = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<user>\d+)_\d+_(?P<file>.+?)(?:-\d+)?\.py")  # -1: handed in again


@dataclass(frozen=True)
class Download:
    """The submissions that were meant, and the names of what is none."""

    submissions: list[Path]
    passed_over: list[str] = field(default_factory=list)
    loose: dict[str, dict[str, Path]] = field(default_factory=dict)  # by id and file name: several files of somebody's


def hand_ins(paths: Sequence[Path]) -> Download:
    """What is meant by these paths.

    A single directory stands for the directories and archives in it, if it has no katas itself and several of these
    have; so does one with Gradescope's metadata, or with files that Canvas has named for who handed them in.
    Raises CallError where nothing is left.
    """
    kept = [path for path in paths if path.name not in OF_NOBODY]
    folder = kept[0] if len(kept) == 1 else None
    if folder is None or not folder.is_dir() or folder.is_symlink() or has_katas(folder):
        loose = loose_files(kept)
        return Download(demand_some(others(kept, loose), loose, paths), [], loose)
    members = sorted(path for path in folder.iterdir() if path.name not in OF_NOBODY and path.name[0] != ".")
    found, loose = [path for path in members if path.is_dir() or is_archive(path)], loose_files(members)
    if sum(map(looks_handed_in, found)) < 2 and not loose and not (folder / METADATA).exists():
        return Download(kept)
    passed_over = [path.name for path in others(members, loose) if path not in found]
    return Download(demand_some(found, loose, paths), passed_over, loose)


def loose_files(paths: Iterable[Path]) -> dict[str, dict[str, Path]]:
    """The Python files that Canvas has put beside each other, by whose they are (`roster` knows the id) and their name.

    Raises CallError for two files of somebody's that have one name.
    """
    found: dict[str, dict[str, Path]] = {}
    for path in paths:
        if (named := CANVAS.fullmatch(path.name)) and path.is_file():
            files = found.setdefault(f"{named['name']}_{named['user']}_files", {})
            other = files.setdefault(f"{named['file']}.py", path)
            if other != path:
                raise CallError(f"{other} and {path}: both are {named['file']}.py of one hand-in; remove one")
    return found


def others(paths: Iterable[Path], loose: dict[str, dict[str, Path]]) -> list[Path]:
    """Those that are not loose."""
    taken = {path for files in loose.values() for path in files.values()}
    return [path for path in paths if path not in taken]


def demand_some(found: list[Path], loose: dict[str, dict[str, Path]], paths: Sequence[Path]) -> list[Path]:
    """The same. Raises CallError if there is nothing."""
    if not found and not loose:
        raise CallError(f"{', '.join(map(str, paths))}: no submission in it")
    return found


def looks_handed_in(path: Path) -> bool:
    """Whether it may hold somebody's katas: an archive, or a folder with them or with one that has them."""
    return is_archive(path) or has_katas(path) or any(is_archive(inner) or has_katas(inner) for inner in path.iterdir())


def is_archive(path: Path) -> bool:
    """By its name."""
    return path.name.lower().endswith(ENDINGS)


def has_katas(folder: Path) -> bool:
    """Whether there is an `assignment/`, or one of the course's files."""
    return any((folder / name).exists() for name in ("assignment", *(f"{kata}.py" for kata in course().katas)))
