"""Reads what a student handed in: a directory, a zip or a tar, as the bytes of a few Python files and nothing else.

Whoever handed it in may own it still, and change it meanwhile. So each file is opened once, through no link and without
waiting; what is looked at and read is what was opened.
"""

import contextlib
import errno
import gzip
import io
import os
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from torchkata.course import course
from torchkata.handin import MAX_BYTES, MAX_FILES, is_module

MAX_TOTAL = 16 * 2**20  # of all Python files, used or not
MAX_ENTRIES = 10_000  # of an archive or a directory, whatever they are
MAX_ARCHIVE = 8 * 2**20  # as it was handed in: what it lists is read at once
MAX_UNPACKED = 64 * 2**20  # of a tar: to pass over a member is to unpack it
ZIP_ENTRY = b"PK\x01\x02"  # how each entry begins in a zip's list
ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip")
OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
NO_FILE = (errno.ELOOP, errno.ENXIO, errno.ENOENT)  # a link, a socket, gone since it was listed
NO_FOLDER = (errno.ELOOP, errno.ENOTDIR, errno.ENOENT)
REMEDY = "copy the hand-in (cp -r) and grade the copy"


class SubmissionError(Exception):
    """This can't be read as a submission; the message says why, in one line."""


@dataclass(frozen=True)
class Submission:
    """An id and the files of the student's package, by name."""

    id: str
    files: dict[str, bytes]


def read(path: Path) -> Submission:
    """Read a submission of any kind. Raises SubmissionError."""
    try:
        files = package_of(list(not_too_large(entries(path), path)), path)
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
    return Submission(identify(path), files)


def identify(path: Path) -> str:
    """The name without its ending, in Unicode's composed form, whatever is there now."""
    name = unicodedata.normalize("NFC", (path if path.name not in ("", "..") else path.resolve()).name)
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def entries(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files in whatever was handed in. Raises SubmissionError for anything else, and OSError."""
    with opened(path, path) as handed_in:
        kind = os.fstat(handed_in)
        if stat.S_ISDIR(kind.st_mode):
            yield from directory_entries(handed_in, path)
            return
        if not stat.S_ISREG(kind.st_mode):
            raise SubmissionError(f"{path}: neither a directory nor a file")
        demand_own(kind, kind.st_uid, "it", path)
        content = read_to(handed_in, MAX_ARCHIVE)
    if len(content) > MAX_ARCHIVE:
        raise SubmissionError(f"{path}: larger than {MAX_ARCHIVE // 2**20} MiB")
    if not zipfile.is_zipfile(io.BytesIO(content)):
        yield from tar_entries(content, path)
    elif content.count(ZIP_ENTRY) > MAX_ENTRIES:  # zipfile would first read them all
        raise SubmissionError(f"{path}: more than {MAX_ENTRIES} entries")
    else:
        yield from zip_entries(content, path)


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


def directory_entries(root: int, path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files of a directory, and of the `assignment/` in it. Links are not followed."""
    owner = os.fstat(root).st_uid
    yield from files_in(root, owner, PurePosixPath(), path)
    with contextlib.ExitStack() as closing:
        try:
            folder = closing.enter_context(opened("assignment", path, root))
        except OSError as error:
            if error.errno in NO_FOLDER:
                return
            raise
        if stat.S_ISDIR(os.fstat(folder).st_mode):
            yield from files_in(folder, owner, PurePosixPath("assignment"), path)


def files_in(folder: int, owner: int, inside: PurePosixPath, path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files right in a folder."""
    names = []
    with os.scandir(folder) as listed:
        for count, entry in enumerate(listed):
            if count >= MAX_ENTRIES:
                raise SubmissionError(f"{path}: more than {MAX_ENTRIES} entries")
            if entry.name.endswith(".py"):
                names.append(entry.name)
    for name in sorted(names):
        content = file_in(folder, name, owner, path)
        if content is not None:
            yield inside / name, content


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


def zip_entries(content: bytes, path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files of a zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if safe_name(info.filename, path).suffix == ".py" and not info.is_dir() and kind in (0, stat.S_IFREG):
                with archive.open(info) as file:
                    yield PurePosixPath(info.filename), limited(file.read(MAX_BYTES + 1), path)


def tar_entries(content: bytes, path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files of a tar, compressed or not."""
    try:
        archive = tarfile.TarFile(fileobj=io.BytesIO(unpacked(content, path)))
    except tarfile.ReadError:
        raise SubmissionError(f"{path}: neither a directory nor a .zip, .tar or .tar.gz") from None
    with archive:
        for count, info in enumerate(archive):
            if count >= MAX_ENTRIES:
                raise SubmissionError(f"{path}: more than {MAX_ENTRIES} entries")
            if safe_name(info.name, path).suffix == ".py" and info.isreg():
                file = archive.extractfile(info)
                assert file is not None
                yield PurePosixPath(info.name), limited(file.read(MAX_BYTES + 1), path)


def unpacked(content: bytes, path: Path) -> bytes:
    """The bytes of a tar. Raises SubmissionError for one that grows beyond measure."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        tar = file.read(MAX_UNPACKED + 1)
    if len(tar) > MAX_UNPACKED:
        raise SubmissionError(f"{path}: unpacks to more than {MAX_UNPACKED // 2**20} MiB")
    return tar


def safe_name(name: str, path: Path) -> PurePosixPath:
    """The name of an archive's entry. Raises SubmissionError for one that points out of the archive."""
    entry = PurePosixPath(name.replace("\\", "/"))
    if entry.is_absolute() or ".." in entry.parts or "\0" in name or ":" in name:
        raise SubmissionError(f"{path}: it has an entry that points elsewhere ({name!r})")
    return entry


def limited(content: bytes, path: Path) -> bytes:
    """Refuse what no hand has typed."""
    if len(content) > MAX_BYTES:
        raise SubmissionError(f"{path}: a file in it is larger than {MAX_BYTES // 2**20} MiB")
    return content


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
