"""Reads the Python files in a zip or tar archive in memory, within limits.

For a malicious archive, the error is a single line.
"""

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from grader.base.text import MOST_QUOTED, quote
from torchkata.course.submission import MAX_BYTES

MAX_ENTRIES = 10_000  # maximum number of entries of any kind in an archive or a directory
MAX_UNPACKED = 64 * 2**20  # maximum size of a tar after decompression; skipping a member decompresses it as well
ZIP_ENTRY = b"PK\x01\x02"  # signature of an entry in the central directory of a zip
ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip")


class SubmissionError(Exception):
    """Raised if a submission can't be read. The message is the reason on one line, without a path.

    Args:
        why: the reason.
        detail: text taken from the student's files, such as a name. Long text is truncated.
    """

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(f"{why} ({quote(detail)})" if detail else why)


def read_archive(content: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the Python files in a zip or tar archive.

    If the archive can't be read, raises SubmissionError, or any error of zipfile or tarfile.
    """
    if not zipfile.is_zipfile(io.BytesIO(content)):
        yield from read_tar(content)
    elif content.count(ZIP_ENTRY) > MAX_ENTRIES:  # counted without zipfile, which reads all entries at once
        raise SubmissionError(f"more than {MAX_ENTRIES} entries")
    else:
        yield from read_zip(content)


def read_zip(content: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the Python files in a zip archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if check_name(info.filename).name.endswith(".py") and not info.is_dir() and kind in (0, stat.S_IFREG):
                with archive.open(info) as file:
                    yield PurePosixPath(info.filename), check_size(file.read(MAX_BYTES + 1))


def read_tar(content: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the Python files in a tar archive, which may be compressed."""
    try:
        archive = tarfile.TarFile(fileobj=io.BytesIO(decompress(content)))
    except tarfile.ReadError:
        raise SubmissionError("not a directory, .zip, .tar or .tar.gz") from None
    with archive:
        for count, info in enumerate(archive):
            if count >= MAX_ENTRIES:
                raise SubmissionError(f"more than {MAX_ENTRIES} entries")
            if check_name(info.name).name.endswith(".py") and info.isreg():
                file = archive.extractfile(info)
                assert file is not None
                yield PurePosixPath(info.name), check_size(file.read(MAX_BYTES + 1))


def decompress(content: bytes) -> bytes:
    """Return the uncompressed bytes of a tar archive. Raises SubmissionError if they are too large."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        tar = file.read(MAX_UNPACKED + 1)
    if len(tar) > MAX_UNPACKED:
        raise SubmissionError(f"unpacks to more than {MAX_UNPACKED // 2**20} MiB")
    return tar


def check_name(name: str) -> PurePosixPath:
    """Return the path of an entry. Raises SubmissionError if it points outside the archive."""
    entry = PurePosixPath(name.replace("\\", "/"))
    if entry.is_absolute() or ".." in entry.parts or "\0" in name or ":" in name:
        raise SubmissionError("contains an entry with an unsafe path", repr(name[:MOST_QUOTED]))
    return entry


def check_size(content: bytes) -> bytes:
    """Return the content of a file. Raises SubmissionError if it is too large to be a hand-written module."""
    if len(content) > MAX_BYTES:
        raise SubmissionError(f"contains a file larger than {MAX_BYTES // 2**20} MiB")
    return content
