"""The Python files in a zip or a tar, from its bytes: an archive that was made to harm is refused in one line."""

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from torchkata.course.submission import MAX_BYTES

MAX_ENTRIES = 10_000  # of an archive or a directory, whatever they are
MAX_UNPACKED = 64 * 2**20  # of a tar: to pass over a member is to unpack it
ZIP_ENTRY = b"PK\x01\x02"  # how each entry begins in a zip's list
ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip")


class SubmissionError(Exception):
    """This can't be read as a submission; the message says why, in one line."""


def archive_entries(content: bytes, path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The Python files of an archive of either kind. Raises SubmissionError, and what zipfile and tarfile raise."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        yield from tar_entries(content, path)
    elif content.count(ZIP_ENTRY) > MAX_ENTRIES:  # zipfile would first read them all
        raise SubmissionError(f"{path}: more than {MAX_ENTRIES} entries")
    else:
        yield from zip_entries(content, path)


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
