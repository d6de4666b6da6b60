"""Reads what a student handed in: a directory, a zip or a tar, as the bytes of a few Python files and nothing else."""

import gzip
import io
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
MAX_ENTRIES = 10_000  # of an archive, whatever they are
MAX_ARCHIVE = 8 * 2**20  # as it was handed in: what it lists is read at once
MAX_UNPACKED = 64 * 2**20  # of a tar: to pass over a member is to unpack it
ZIP_ENTRY = b"PK\x01\x02"  # how each entry begins in a zip's list
ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip")


class SubmissionError(Exception):
    """This can't be read as a submission; the message says why, in one line."""


@dataclass(frozen=True)
class Submission:
    """An id and the files of the student's package, by name."""

    id: str
    files: dict[str, bytes]


def read(path: Path) -> Submission:
    """Read a submission of any kind. Raises SubmissionError."""
    if not path.exists():
        raise SubmissionError(f"{path}: there is no such file or directory")
    try:
        files = package_of(list(not_too_large(entries(path), path)), path)
    except SubmissionError:
        raise
    except Exception as error:  # zipfile, tarfile and zlib have many ways to say that an archive is broken
        raise SubmissionError(f"{path}: can't be read ({' '.join(str(error).split())})") from None
    if not files:
        example = next(iter(course().katas))
        raise SubmissionError(f"{path}: no kata in it (assignment/{example}.py and so on)")
    return Submission(identify(path), files)


def identify(path: Path) -> str:
    """The name without its ending, in Unicode's composed form; a link's own, whatever it points to."""
    name = unicodedata.normalize("NFC", (path if path.name not in ("", "..") else path.resolve()).name)
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending) and not path.is_dir()), "")
    return name[: len(name) - len(ending)]


def entries(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files in whatever was handed in. Raises SubmissionError for anything else."""
    if path.is_dir():
        return directory_entries(path)
    if path.stat().st_size > MAX_ARCHIVE:
        raise SubmissionError(f"{path}: larger than {MAX_ARCHIVE // 2**20} MiB")
    if not zipfile.is_zipfile(path):
        return tar_entries(path)
    if path.read_bytes().count(ZIP_ENTRY) > MAX_ENTRIES:  # zipfile would first read them all
        raise SubmissionError(f"{path}: more than {MAX_ENTRIES} entries")
    return zip_entries(path)


def not_too_large(entries: Iterable[tuple[PurePosixPath, bytes]], path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Stop where many files that are small enough are too much together."""
    total = 0
    for entry, content in entries:
        total += len(content)
        if total > MAX_TOTAL:
            raise SubmissionError(f"{path}: its Python files are larger than {MAX_TOTAL // 2**20} MiB together")
        yield entry, content


def directory_entries(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files of a directory, or of the `assignment/` in it. Links are not followed."""
    for folder in (path, path / "assignment"):
        for file in sorted(folder.glob("*.py")) if folder.is_dir() and not folder.is_symlink() else ():
            if file.is_file() and not file.is_symlink():
                with file.open("rb") as opened:
                    yield PurePosixPath(file.relative_to(path).as_posix()), limited(opened.read(MAX_BYTES + 1), file)


def zip_entries(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files of a zip."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if safe_name(info.filename, path).suffix == ".py" and not info.is_dir() and kind in (0, stat.S_IFREG):
                with archive.open(info) as file:
                    yield PurePosixPath(info.filename), limited(file.read(MAX_BYTES + 1), path)


def tar_entries(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files of a tar, compressed or not."""
    try:
        archive = tarfile.TarFile(fileobj=io.BytesIO(unpacked(path)))
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


def unpacked(path: Path) -> bytes:
    """The bytes of a tar. Raises SubmissionError for one that grows beyond measure."""
    with path.open("rb") as raw:
        is_gzip = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        with gzip.GzipFile(fileobj=raw) if is_gzip else raw as file:
            content = file.read(MAX_UNPACKED + 1)
    if len(content) > MAX_UNPACKED:
        raise SubmissionError(f"{path}: unpacks to more than {MAX_UNPACKED // 2**20} MiB")
    return content


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
