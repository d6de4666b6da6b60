"""Says what a folder of a submission is, and reads a directory as one.

The files may still belong to the student, who could change them while they are being read. Therefore each file is
opened only once, without following links or blocking, and all checks are applied to the open file. `archives.py` reads
anything else. For a malicious submission, the error is a single line.
"""

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from grader.base.text import quote

MAX_ENTRIES = 10_000  # maximum number of files and folders that are looked at, including those that are not graded
MAX_DEPTH = 32  # maximum number of nested folders
OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
NO_FILE = (errno.ELOOP, errno.ENXIO, errno.ENOENT)  # a link, a socket, or a file that was removed after it was listed
NO_FOLDER = (errno.ELOOP, errno.ENOTDIR, errno.ENOENT)
REMEDY = "copy the submission (cp -r) and grade the copy"


class SubmissionError(Exception):
    """Raised if a submission can't be read. The message is the reason on one line, without a path.

    Args:
        why: the reason.
        detail: text taken from the student's files, such as a name. Long text is truncated.
        layout: the layout with which it might be read as a class.
    """

    def __init__(self, why: str, detail: str = "", *, layout: str = "") -> None:
        super().__init__(f"{why} ({quote(detail)})" if detail else why)
        self.layout = layout


@dataclass(frozen=True)
class Listing:
    """The names in a folder, each in the order of its characters."""

    files: list[str]
    folders: list[str]
    others: list[str]  # links, pipes, devices
    repeated: list[str] = field(default_factory=list)  # files that an archive contains several times


class Tree(Protocol):
    """A folder of a submission."""

    def list_names(self) -> Listing:
        """Return the names in the folder."""

    def enter(self, name: str) -> "AbstractContextManager[Tree]":
        """Open a folder in this one. Raises NotADirectoryError if it is no longer a folder."""

    def read(self, name: str, most: int) -> bytes | None:
        """Return up to `most` + 1 bytes of a file, or None if it is no longer a regular file."""


@dataclass(frozen=True)
class Directory:
    """An open directory whose files all have to belong to one user."""

    descriptor: int
    owner: int

    def list_names(self) -> Listing:
        """Return the names in the directory."""
        with os.scandir(self.descriptor) as entries:
            found = [*itertools.islice(entries, MAX_ENTRIES + 1)]
        found.sort(key=lambda entry: entry.name)
        folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
        files = [entry.name for entry in found if entry.is_file(follow_symlinks=False)]
        return Listing(files, folders, sorted({entry.name for entry in found}.difference(files, folders)))

    @contextlib.contextmanager
    def enter(self, name: str) -> Iterator["Directory"]:
        """Open a folder in this directory."""
        try:
            descriptor = os.open(name, OPEN_FLAGS | os.O_DIRECTORY, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in NO_FOLDER:
                raise NotADirectoryError(errno.ENOTDIR, name) from None
            raise
        try:
            yield Directory(descriptor, self.owner)
        finally:
            os.close(descriptor)

    def read(self, name: str, most: int) -> bytes | None:
        """Return up to `most` + 1 bytes of a file in this directory."""
        try:
            with open_safely(name, self.descriptor) as file:
                return read_open_file(file, most, self.owner, name)
        except OSError as error:
            if error.errno in NO_FILE:
                return None
            raise


@contextlib.contextmanager
def open_safely(name: str | Path, folder: int | None = None) -> Iterator[int]:
    """Open a path, relative to `folder` if given, and yield the descriptor.

    Raises SubmissionError if it is a link, or OSError if it can't be opened.
    """
    try:
        descriptor = os.open(name, OPEN_FLAGS, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP and folder is None:
            raise SubmissionError("is a symbolic link; submit the file itself") from None
        raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_open_file(file: int, most: int, owner: int, name: str) -> bytes | None:
    """Return up to `most` + 1 bytes of an open file, or None if it is not a regular file.

    Raises SubmissionError if it may belong to someone else because it has hard links or a different owner.
    """
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        return None
    if found.st_nlink > 1:
        why = f"a file has more than one hard link, so it may belong to another student; {REMEDY}"
        raise SubmissionError(why, name)
    if found.st_uid != owner:
        raise SubmissionError(f"a file has a different owner than the submission; {REMEDY}", name)
    with open(file, "rb", closefd=False) as content:
        return content.read(most + 1)
