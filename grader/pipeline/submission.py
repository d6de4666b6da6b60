"""Reads a submission (a directory, zip or tar) as the contents of a few Python files and nothing else.

The files may still belong to the student, who could change them while they are being read. Therefore each file is
opened only once, without following links or blocking, and all checks are applied to the open file.
"""

import contextlib
import errno
import itertools
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.pipeline.archives import ENDINGS, MAX_ENTRIES, SubmissionError, check_size, read_archive
from torchkata.course import course
from torchkata.course.submission import MAX_BYTES, MAX_FILES, is_module

MAX_TOTAL = 16 * 2**20  # maximum total size of all Python files, including those that are not graded
MAX_ARCHIVE = 8 * 2**20  # maximum size of an archive, which is read into memory as a whole
OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
NO_FILE = (errno.ELOOP, errno.ENXIO, errno.ENOENT)  # a link, a socket, or a file that was removed after it was listed
NO_FOLDER = (errno.ELOOP, errno.ENOTDIR, errno.ENOENT)
REMEDY = "copy the submission (cp -r) and grade the copy"

Entries = Iterator[tuple[PurePosixPath, bytes]]


@dataclass(frozen=True)
class Submission:
    """The id of a submission, and its files, keyed by name."""

    id: str
    files: dict[str, bytes]


def read_submission(path: Path, loose: Sequence[tuple[str, Path]] = ()) -> Submission:
    """Read a submission of any kind. If `loose` files are given, the submission consists of only these files.

    Raises SubmissionError if it can't be read. No other error is raised.
    """
    try:
        with open_safely(path) as handed_in:
            found = [read_loose(loose)] if loose else find_entries(handed_in)
            packages = (choose_package(list(check_total(entries))) for entries in found)
            files = next(filter(None, packages), {})
        if not files:
            raise SubmissionError(f"contains no kata (such as assignment/{next(iter(course().katas))}.py)")
        return Submission(identify(path), files)
    except SubmissionError:
        raise
    except FileNotFoundError:
        raise SubmissionError("no such file or directory") from None
    except Exception as error:  # zipfile, tarfile and zlib raise many kinds of exceptions
        if isinstance(error, OSError) and error.strerror:
            raise SubmissionError(f"can't be read ({error.strerror})") from None
        raise SubmissionError("can't be read", str(error) or type(error).__name__) from None


def identify(path: Path) -> str:
    """Return the name of a submission, without an archive extension and in composed Unicode form (NFC).

    The path does not have to exist.
    """
    name = unicodedata.normalize("NFC", (path if path.name not in ("", "..") else path.resolve()).name)
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def find_entries(handed_in: int) -> Iterator[Entries]:
    """Yield the Python files of each folder that may contain katas, most likely first.

    Raises SubmissionError if the submission is not acceptable, or OSError if it can't be read.
    """
    kind = os.fstat(handed_in)
    if stat.S_ISREG(kind.st_mode):
        yield read_archive_file(handed_in, kind.st_uid)
    elif not stat.S_ISDIR(kind.st_mode):
        raise SubmissionError("not a file or directory")
    else:
        yield read_package(handed_in, kind.st_uid, PurePosixPath())
        names = list_names(handed_in)
        yield read_subfolders(handed_in, kind.st_uid, names)
        archives = [name for name in names if name.lower().endswith(ENDINGS)]
        if len(archives) > 1:
            raise SubmissionError("contains several archives and no kata", ", ".join(archives))
        for name in archives:
            with open_safely(name, handed_in) as archive:
                if stat.S_ISREG(os.fstat(archive).st_mode):
                    yield read_archive_file(archive, kind.st_uid, name)


def read_loose(files: Iterable[tuple[str, Path]]) -> Entries:
    """Yield loose files under the names that the student gave them."""
    seen: set[str] = set()
    for name, path in files:
        if name in seen:
            raise SubmissionError("two of its files have the same name; remove one", name)
        seen.add(name)
        with open_safely(path) as file:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise SubmissionError("not a file", name)
            check_owner(found, found.st_uid, name)
            yield PurePosixPath(name), check_size(read_at_most(file, MAX_BYTES))


def read_archive_file(file: int, owner: int, name: str = "") -> Entries:
    """Yield the Python files in an archive."""
    check_owner(os.fstat(file), owner, name)
    content = read_at_most(file, MAX_ARCHIVE)
    if len(content) > MAX_ARCHIVE:
        raise SubmissionError(f"larger than {MAX_ARCHIVE // 2**20} MiB")
    yield from read_archive(content)


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


def read_at_most(descriptor: int, most: int) -> bytes:
    """Read up to `most` + 1 bytes from a file."""
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(most + 1)


def check_owner(found: os.stat_result, owner: int, name: str) -> None:
    """Raise SubmissionError if a file may belong to someone else because it has hard links or a different owner."""
    if found.st_nlink > 1:
        raise SubmissionError(
            f"a file has more than one hard link, so it may belong to another student; {REMEDY}", name
        )
    if found.st_uid != owner:
        raise SubmissionError(f"a file has a different owner than the submission; {REMEDY}", name)


def check_total(entries: Iterable[tuple[PurePosixPath, bytes]]) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the given files. Raises SubmissionError if their total size is too large."""
    total = 0
    for entry, content in entries:
        total += len(content)
        if total > MAX_TOTAL:
            raise SubmissionError(f"its Python files are larger than {MAX_TOTAL // 2**20} MiB in total")
        yield entry, content


def read_package(folder: int, owner: int, inside: PurePosixPath) -> Entries:
    """Yield the Python files in a directory and in its `assignment/`, without following links."""
    yield from read_folder(folder, owner, inside)
    with contextlib.suppress(NotADirectoryError), open_folder(folder, "assignment") as assignment:
        yield from read_folder(assignment, owner, inside / "assignment")


def read_subfolders(folder: int, owner: int, names: Iterable[str]) -> Entries:
    """Yield the Python files in each subfolder of a directory, treating each as a package."""
    for name in names:
        inside = PurePosixPath(name)
        if is_shallow(inside / "kata.py"):
            with contextlib.suppress(NotADirectoryError), open_folder(folder, name) as inner:
                yield from read_package(inner, owner, inside)


@contextlib.contextmanager
def open_folder(folder: int | None, name: str | Path) -> Iterator[int]:
    """Open a folder, relative to `folder` if given, and yield the descriptor.

    Raises NotADirectoryError if the path is missing, a file or a link, or another OSError if it can't be opened.
    """
    try:
        descriptor = os.open(name, OPEN_FLAGS | os.O_DIRECTORY, dir_fd=folder)
    except OSError as error:
        if error.errno in NO_FOLDER:
            raise NotADirectoryError(errno.ENOTDIR, str(name)) from None
        raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_folder(folder: int, owner: int, inside: PurePosixPath) -> Entries:
    """Yield the Python files directly inside a folder."""
    for name in list_names(folder):
        content = read_file(folder, name, owner) if name.endswith(".py") else None
        if content is not None:
            yield inside / name, content


def list_names(folder: int) -> list[str]:
    """Return the sorted names in a folder. Raises SubmissionError if there are too many."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in itertools.islice(entries, MAX_ENTRIES + 1)]
    if len(names) > MAX_ENTRIES:
        raise SubmissionError(f"more than {MAX_ENTRIES} entries")
    return sorted(names)


def read_file(folder: int, name: str, owner: int) -> bytes | None:
    """Return the content of a regular file, or None if it is anything else."""
    try:
        with open_safely(name, folder) as file:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                return None
            check_owner(found, owner, name)
            return check_size(read_at_most(file, MAX_BYTES))
    except OSError as error:
        if error.errno in NO_FILE:
            return None
        raise


def choose_package(entries: list[tuple[PurePosixPath, bytes]]) -> dict[str, bytes]:
    """Return the files of the folder that contains the katas: `assignment/`, or else the folder with the most katas."""
    folders: dict[PurePosixPath, dict[str, bytes]] = {}
    for entry, content in entries:
        name = unicodedata.normalize("NFC", entry.name)
        if is_module(name) and is_shallow(entry):
            folders.setdefault(entry.parent, {})[name] = content
    katas = {f"{kata}.py" for kata in course().katas}
    ranked = sorted(
        (folder for folder in folders if katas & folders[folder].keys()),
        key=lambda folder: (folder.name != "assignment", -len(katas & folders[folder].keys()), str(folder)),
    )
    files = folders[ranked[0]] if ranked else {}
    if len(files) > MAX_FILES:
        raise SubmissionError(f"more than {MAX_FILES} Python files in one folder")
    return dict(sorted(files.items()))


def is_shallow(entry: PurePosixPath) -> bool:
    """Return whether no parent folder begins with "." or "__". Archivers and tools add folders with such names."""
    return not any(part.startswith((".", "__")) for part in entry.parts[:-1])
