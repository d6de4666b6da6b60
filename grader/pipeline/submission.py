"""Reads what a student handed in: a directory, a zip or a tar, as the bytes of a few Python files and nothing else.

Whoever handed it in may own it still, and change it meanwhile. So each file is opened once, through no link and without
waiting; what is looked at and read is what was opened.
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

from grader.pipeline.archives import ENDINGS, MAX_ENTRIES, SubmissionError, archive_entries, limited
from grader.pipeline.commits import committed
from torchkata.course import course
from torchkata.course.submission import MAX_BYTES, MAX_FILES, is_module

MAX_TOTAL = 16 * 2**20  # of all Python files, used or not
MAX_ARCHIVE = 8 * 2**20  # as it was handed in: what it lists is read at once
OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
NO_FILE = (errno.ELOOP, errno.ENXIO, errno.ENOENT)  # a link, a socket, gone since it was listed
NO_FOLDER = (errno.ELOOP, errno.ENOTDIR, errno.ENOENT)
REMEDY = "copy the hand-in (cp -r) and grade the copy"

Entries = Iterator[tuple[PurePosixPath, bytes]]


@dataclass(frozen=True)
class Submission:
    """An id and the files of the student's package, by name."""

    id: str
    files: dict[str, bytes]
    handed_in: str = ""  # the time of its last commit, where it is a git repository


def read(path: Path, loose: Sequence[tuple[str, Path]] = ()) -> Submission:
    """Read a submission of any kind, or of a folder only these `loose` files. Raises SubmissionError."""
    try:
        with opened(path, path) as handed_in:
            found = [loose_in(loose)] if loose else places(handed_in, path)
            packages = (package_of(list(not_too_large(entries, path)), path) for entries in found)
            files = next(filter(None, packages), {})
    except SubmissionError:
        raise
    except FileNotFoundError:
        raise SubmissionError(f"{path}: there is no such file or directory") from None
    except OSError as error:
        raise SubmissionError(f"{path}: can't be read ({error.strerror or error})") from None
    except Exception as error:  # zipfile, tarfile and zlib have many ways to say that an archive is broken
        raise SubmissionError(f"{path}: can't be read ({' '.join(str(error).split())})") from None
    if not files:
        example = next(iter(course().katas))
        raise SubmissionError(f"{path}: no kata in it (assignment/{example}.py and so on)")
    return Submission(identify(path), files, "" if loose else committed(path, files))


def identify(path: Path) -> str:
    """The name without its ending, in Unicode's composed form, whatever is there now."""
    name = unicodedata.normalize("NFC", (path if path.name not in ("", "..") else path.resolve()).name)
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def places(handed_in: int, path: Path) -> Iterator[Entries]:
    """The Python files of each place where the katas may be, the likeliest first. Raises SubmissionError, OSError."""
    kind = os.fstat(handed_in)
    if stat.S_ISREG(kind.st_mode):
        yield archive_in(handed_in, kind.st_uid, "it", path)
    elif not stat.S_ISDIR(kind.st_mode):
        raise SubmissionError(f"{path}: neither a directory nor a file")
    else:
        yield package_in(handed_in, kind.st_uid, PurePosixPath(), path)
        names = listed(handed_in, path)
        yield one_level_down(handed_in, kind.st_uid, names, path)
        archives = [name for name in names if name.lower().endswith(ENDINGS)]
        if len(archives) > 1:
            raise SubmissionError(f"{path}: several archives in it, and no kata beside them: {', '.join(archives)}")
        for name in archives:
            with opened(name, path, handed_in) as archive:
                yield archive_in(archive, kind.st_uid, name, path)


def loose_in(files: Iterable[tuple[str, Path]]) -> Entries:
    """These files, under the names that they were handed in by."""
    for name, path in files:
        with opened(path, path) as file:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise SubmissionError(f"{path}: it is no file")
            demand_own(found, found.st_uid, "it", path)
            yield PurePosixPath(name), limited(read_to(file, MAX_BYTES), path)


def archive_in(file: int, owner: int, name: str, path: Path) -> Entries:
    """The Python files of an archive."""
    demand_own(os.fstat(file), owner, name, path)
    content = read_to(file, MAX_ARCHIVE)
    if len(content) > MAX_ARCHIVE:
        raise SubmissionError(f"{path}: larger than {MAX_ARCHIVE // 2**20} MiB")
    yield from archive_entries(content, path)


@contextlib.contextmanager
def opened(name: str | Path, path: Path, folder: int | None = None) -> Iterator[int]:
    """A descriptor of what has this name, in a folder if one is given. Raises SubmissionError for a link; OSError."""
    try:
        descriptor = os.open(name, OPENED, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP and folder is None:
            raise SubmissionError(f"{path}: it is a link, so it may be another's; copy what it leads to") from None
        raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_to(descriptor: int, most: int) -> bytes:
    """The content of a file, and of one that is larger a byte too many."""
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(most + 1)


def demand_own(found: os.stat_result, owner: int, name: str, path: Path) -> None:
    """Raise SubmissionError for a file that may be another's: with a second name, or of another owner."""
    if found.st_nlink > 1:
        raise SubmissionError(f"{path}: {name} has another name, too (a hard link), so it may be another's; {REMEDY}")
    if found.st_uid != owner:
        raise SubmissionError(f"{path}: {name} does not belong to the hand-in's owner; {REMEDY}")


def not_too_large(entries: Iterable[tuple[PurePosixPath, bytes]], path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Stop where many files that are small enough are too much together."""
    total = 0
    for entry, content in entries:
        total += len(content)
        if total > MAX_TOTAL:
            raise SubmissionError(f"{path}: its Python files are larger than {MAX_TOTAL // 2**20} MiB together")
        yield entry, content


def package_in(folder: int, owner: int, inside: PurePosixPath, path: Path) -> Entries:
    """The Python files of a directory, and of the `assignment/` in it. Links are not followed."""
    yield from files_in(folder, owner, inside, path)
    with contextlib.suppress(NotADirectoryError), folder_in(folder, "assignment") as assignment:
        yield from files_in(assignment, owner, inside / "assignment", path)


def one_level_down(folder: int, owner: int, names: Iterable[str], path: Path) -> Entries:
    """The same of each folder in a directory."""
    for name in names:
        inside = PurePosixPath(name)
        if is_shallow(inside / "kata.py"):
            with contextlib.suppress(NotADirectoryError), folder_in(folder, name) as inner:
                yield from package_in(inner, owner, inside, path)


@contextlib.contextmanager
def folder_in(folder: int, name: str) -> Iterator[int]:
    """A descriptor of a folder in a folder. Raises NotADirectoryError for anything else, and OSError."""
    try:
        descriptor = os.open(name, OPENED | os.O_DIRECTORY, dir_fd=folder)
    except OSError as error:
        if error.errno in NO_FOLDER:
            raise NotADirectoryError(errno.ENOTDIR, name) from None
        raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def files_in(folder: int, owner: int, inside: PurePosixPath, path: Path) -> Entries:
    """The Python files right in a folder."""
    for name in listed(folder, path):
        content = file_in(folder, name, owner, path) if name.endswith(".py") else None
        if content is not None:
            yield inside / name, content


def listed(folder: int, path: Path) -> list[str]:
    """The names in a folder, in order."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in itertools.islice(entries, MAX_ENTRIES + 1)]
    if len(names) > MAX_ENTRIES:
        raise SubmissionError(f"{path}: more than {MAX_ENTRIES} entries")
    return sorted(names)


def file_in(folder: int, name: str, owner: int, path: Path) -> bytes | None:
    """The content of a regular file; None for anything else."""
    try:
        with opened(name, path, folder) as file:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                return None
            demand_own(found, owner, name, path)
            return limited(read_to(file, MAX_BYTES), path)
    except OSError as error:
        if error.errno in NO_FILE:
            return None
        raise


def package_of(entries: list[tuple[PurePosixPath, bytes]], path: Path) -> dict[str, bytes]:
    """The files beside each other that hold the katas: in `assignment/` if there is one, else where most katas are."""
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
        raise SubmissionError(f"{path}: more than {MAX_FILES} Python files beside each other")
    return dict(sorted(files.items()))


def is_shallow(entry: PurePosixPath) -> bool:
    """Not within what archivers and tools leave about."""
    return not any(part.startswith((".", "__")) for part in entry.parts[:-1])
