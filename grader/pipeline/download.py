"""A folder of submissions, as platforms let an instructor download them all, stands for what is in it."""

from collections.abc import Sequence
from pathlib import Path

from grader.base.errors import CallError
from grader.marks.gradescope import METADATA
from grader.pipeline.archives import ENDINGS
from torchkata.course import course

OF_NOBODY = (METADATA, ".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX")  # what platforms and systems leave about


def hand_ins(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The submissions meant by these paths, and the names in a folder of submissions that are none.

    A single directory stands for the directories and archives in it, if it has no katas itself and several of these
    have; so does one with Gradescope's metadata. Raises CallError where nothing is left.
    """
    kept = [path for path in paths if path.name not in OF_NOBODY]
    folder = kept[0] if len(kept) == 1 else None
    if folder is None or not folder.is_dir() or folder.is_symlink() or has_katas(folder):
        return demand_some(kept, paths), []
    members = sorted(path for path in folder.iterdir() if path.name not in OF_NOBODY and path.name[0] != ".")
    found = [path for path in members if path.is_dir() or is_archive(path)]
    if sum(map(looks_handed_in, found)) < 2 and not (folder / METADATA).exists():
        return kept, []
    return demand_some(found, paths), [path.name for path in members if path not in found]


def demand_some(found: list[Path], paths: Sequence[Path]) -> list[Path]:
    """The same. Raises CallError if there is none."""
    if not found:
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
