"""Finds the submissions in a folder that an instructor downloaded from a platform and named with `--layout`.

Students control the names of their files and everything in their folders. Therefore this module raises no error for
anything in a class, and looks into no submission: what can't be read is rejected later.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.errors import CallError
from grader.options import Layout
from grader.pipeline.archives import find_foreign_ending, is_archive
from grader.results.ids import METADATA

TITLES: dict[Layout, str] = {"canvas": "Canvas", "moodle": "Moodle", "gradescope": "Gradescope", "github": "GitHub"}
IGNORED = (METADATA, ".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX")  # files added by platforms and systems
CODE = (".py", ".ipynb")
CANVAS = re.compile(  # -1: a resubmission
    r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<user>\d+)_\d+_(?P<file>.+?)(?:-\d+)?(?P<ending>(?:\.tar)?\.\w+)", re.DOTALL
)
MOODLE = re.compile(r"(?P<owner>.+_\d+_assignsubmission_(?:file|onlinetext))_?(?P<file>.*)", re.DOTALL)


@dataclass(frozen=True)
class Download:
    """The submissions that were found, and the names of all other files."""

    submissions: list[Path]
    passed_over: list[str] = field(default_factory=list)
    loose: dict[tuple[Path, str], list[tuple[str, Path]]] = field(default_factory=dict)
    """(name, path) of the files of a submission, keyed by its folder and id."""

    def list_skipped_code(self) -> list[str]:
        """Return the files that were passed over and may be someone's work."""
        return [name for name in self.passed_over if name.lower().endswith(CODE)]

    def list_skipped_text(self) -> list[str]:
        """Return the other files that were passed over, and those that a person has handed in beside code."""
        beside = [path.name for files in self.loose.values() for name, path in files if not may_have_katas(name)]
        return sorted([*(name for name in self.passed_over if not name.lower().endswith(CODE)), *beside])


def find_submissions(paths: Sequence[Path], layout: Layout | None = None) -> Download:
    """Return the submissions that are found at these paths.

    Without a layout, each path is a submission. With a layout, each path is the folder of a class. Its folders and
    archives are submissions. The files that Canvas and Moodle named after a person are one submission of this person.

    Raises CallError if a path is missing or not the folder of a class, or if no submission is found.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise CallError(f"{path}: no such file or directory")
    found = Download([])
    for path in paths:
        if layout is not None:
            add_class(found, path, layout)
        elif path.name not in IGNORED:
            found.submissions.append(path)
    if not found.submissions and not found.loose:
        raise CallError(f"{', '.join(map(str, paths))}: no submissions found")
    return found


def add_class(found: Download, folder: Path, layout: Layout) -> None:
    """Add the submissions in a folder. Raises CallError if it is not a folder that can be read."""
    try:
        members = sorted(path for path in folder.iterdir() if path.name not in IGNORED and path.name[0] != ".")
    except NotADirectoryError:
        raise CallError(f"{folder}: --layout needs a folder; unpack the download first") from None
    except OSError as error:
        raise CallError(f"{folder}: can't be read ({error.strerror})") from None
    ids = {path.name: identify_owner(path.name, layout) for path in members if get_type(path) == stat.S_IFREG}
    counts = Counter(owner for owner, _ in ids.values())
    for path in members:
        owner, name = ids.get(path.name, ("", ""))
        packed = is_packed(path.name)
        if has_file_besides_text(path.name, members):
            found.passed_over.append(path.name)
        elif owner and not (layout == "canvas" and packed and counts[owner] == 1):
            found.loose.setdefault((folder, owner), []).append((name, path))
        elif path.name not in ids or packed:
            found.submissions.append(path)
        else:
            found.passed_over.append(path.name)


def identify_owner(name: str, layout: Layout) -> tuple[str, str]:
    """Return the id of the submission that a file belongs to, and the student's name of the file, or empty strings."""
    if layout == "canvas" and (named := CANVAS.fullmatch(name)):
        return f"{named['name']}_{named['user']}_files", f"{named['file']}{named['ending']}"
    if layout == "moodle" and (named := MOODLE.fullmatch(name)) and named["file"]:
        return named["owner"], named["file"]
    return "", ""


def is_packed(name: str) -> bool:
    """Return whether a file is an archive, which may be of a kind that can't be read."""
    return is_archive(name) or bool(find_foreign_ending(name))


def may_have_katas(name: str) -> bool:
    """Return whether a file of a submission is read."""
    return is_packed(name) or name.lower().endswith(".py")


def has_file_besides_text(name: str, members: Sequence[Path]) -> bool:
    """Return whether this is a text typed into Moodle by someone who has also handed in files."""
    start, text, _ = name.partition("_assignsubmission_onlinetext")
    return bool(text) and any(path.name.startswith(f"{start}_assignsubmission_file") for path in members)


def guess_layout(names: Iterable[str]) -> Layout | None:
    """Return the platform whose download of a class has entries with such names, or None."""
    for name in names:
        if name == METADATA:
            return "gradescope"
        if MOODLE.fullmatch(name):
            return "moodle"
        if CANVAS.fullmatch(name):
            return "canvas"
    return None


def is_late(name: str) -> bool:
    """Return whether Canvas has marked a file as late."""
    named = CANVAS.fullmatch(name)
    return bool(named and named["late"])


def get_type(path: Path) -> int:
    """Return the file type as reported by `lstat`, which does not follow links, or 0 if it can't be determined."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return 0
