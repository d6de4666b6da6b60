"""Presents a zip, a tar and loose files as the same kind of tree as a directory.

An archive is read in memory, and unpacking it is limited. For a malicious archive, the error is a single line.
"""

import bz2
import contextlib
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from grader.base.text import MOST_QUOTED
from grader.pipeline.left_aside import describe_unreadable
from grader.pipeline.trees import MAX_DEPTH, MAX_ENTRIES, Listing, SubmissionError

MAX_LISTED = (
    10 * MAX_ENTRIES
)  # maximum number of entries of an archive, including those in folders that are not entered
MAX_ARCHIVE = 64 * 2**20  # maximum size of an archive, which is read into memory as a whole
MAX_UNPACKED = 64 * 2**20  # maximum number of bytes that are unpacked, including those that are skipped in a tar
ZIP_ENTRY = b"PK\x01\x02"  # signature of an entry in the central directory of a zip
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the methods that `zipfile` can unpack in bounded memory
ENCRYPTED = 1  # flag of an entry
ENDINGS = (".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar", ".zip")
FOREIGN_ENDINGS = (".rar", ".7z", ".zipx", ".tar.zst", ".gz", ".xz", ".bz2", ".zst")  # archives that can't be read
STREAMS: dict[bytes, Callable[[io.BytesIO], Any]] = {  # how to unpack a file that begins like this
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\0": lzma.open,
    b"BZh": bz2.open,
}


@dataclass(frozen=True)
class VirtualFolder:
    """A folder in an archive, or of loose files."""

    files: dict[str, Callable[[int], bytes | None]] = field(default_factory=dict)  # each returns up to n + 1 bytes
    folders: "dict[str, VirtualFolder]" = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)

    def list_names(self) -> Listing:
        """Return the names in the folder."""
        return Listing(*(sorted(names) for names in (self.files, self.folders, self.others, self.repeated)))

    def enter(self, name: str) -> "AbstractContextManager[VirtualFolder]":
        """Return a folder in this one."""
        return contextlib.nullcontext(self.folders[name])

    def read(self, name: str, most: int) -> bytes | None:
        """Return up to `most` + 1 bytes of a file in this folder."""
        return self.files[name](most)

    def add(self, path: PurePosixPath, kind: str, read: Callable[[int], bytes | None]) -> None:
        """Add a "file", "folder" or "other" at this path. Anything too deep only creates the folders above it."""
        folder = self
        for name in path.parts[:-1][: MAX_DEPTH + 1]:
            folder = folder.folders.setdefault(name, VirtualFolder())
        if not path.name or len(path.parts) > MAX_DEPTH + 1:
            return
        if folder.files.pop(path.name, None):  # of two entries with the same path, the last one counts
            folder.repeated.add(path.name)
        if kind == "folder":
            folder.folders.setdefault(path.name, VirtualFolder())
        elif kind == "file":
            folder.files[path.name] = read
        else:
            folder.others.add(path.name)


class Budget:
    """The number of bytes that may still be unpacked."""

    def __init__(self) -> None:
        self.left = MAX_UNPACKED

    def spend(self, unpacked: bytes) -> bytes:
        """Count unpacked bytes and return them. Raises SubmissionError if there are too many in total."""
        self.left -= len(unpacked)
        if self.left < 0:
            raise SubmissionError(f"unpacks to more than {MAX_UNPACKED // 2**20} MiB")
        return unpacked


def is_archive(name: str) -> bool:
    """Return whether a name has the extension of an archive that can be read."""
    return name.lower().endswith(ENDINGS)


def find_foreign_ending(name: str) -> str:
    """Return the extension of a name if it belongs to an archive that can't be read, otherwise ""."""
    endings = () if is_archive(name) else FOREIGN_ENDINGS
    return next((ending for ending in endings if name.lower().endswith(ending)), "")


def open_archive(content: bytes, budget: Budget) -> VirtualFolder:
    """Return the tree in a zip or tar archive.

    If the archive can't be read, raises SubmissionError, or any error of zipfile or tarfile.
    """
    if len(content) > MAX_ARCHIVE:
        raise SubmissionError(f"larger than {MAX_ARCHIVE // 2**20} MiB")
    if is_tar(content) or not zipfile.is_zipfile(io.BytesIO(content)):
        return open_tar(content, budget)
    if content.count(ZIP_ENTRY) > MAX_LISTED:  # counted without zipfile, which reads all entries at once
        raise SubmissionError(f"more than {MAX_LISTED} entries")
    return open_zip(content, budget)


def is_tar(content: bytes) -> bool:
    """Return whether an archive is a tar. It may contain a zip, which `is_zipfile` would find."""
    return content.startswith((*STREAMS,)) or content[257:262] == b"ustar"


def open_zip(content: bytes, budget: Budget) -> VirtualFolder:
    """Return the tree in a zip archive."""
    archive = zipfile.ZipFile(io.BytesIO(content))
    root = VirtualFolder()

    def read(info: zipfile.ZipInfo, most: int) -> bytes:
        if info.flag_bits & ENCRYPTED:
            raise SubmissionError("is encrypted; hand in an archive without a password")
        if info.compress_type not in METHODS:
            raise SubmissionError("is compressed with an unusual method; use another program to make the .zip")
        with archive.open(info) as file:
            return budget.spend(file.read(most + 1))

    for info in archive.infolist():
        mode = stat.S_IFMT(info.external_attr >> 16)
        kind = "folder" if info.is_dir() or info.filename.endswith("\\") else "file"
        root.add(
            check_name(info.filename), kind if mode in (0, stat.S_IFREG, stat.S_IFDIR) else "other", partial(read, info)
        )
    return root


def open_tar(content: bytes, budget: Budget) -> VirtualFolder:
    """Return the tree in a tar archive, which may be compressed."""
    for start, unpack in STREAMS.items():
        if content.startswith(start):
            with unpack(io.BytesIO(content)) as file:
                content = budget.spend(file.read(budget.left + 1))
            break
    try:
        archive = tarfile.TarFile(fileobj=io.BytesIO(content))
    except tarfile.ReadError:
        raise SubmissionError(describe_unreadable(content)) from None
    root = VirtualFolder()

    def read(info: tarfile.TarInfo, most: int) -> bytes:
        file = archive.extractfile(info)
        assert file is not None
        return file.read(most + 1)

    for count, info in enumerate(archive):
        if count >= MAX_LISTED:
            raise SubmissionError(f"more than {MAX_LISTED} entries")
        kind = "folder" if info.isdir() else "file" if info.isreg() else "other"
        root.add(check_name(info.name), kind, partial(read, info))
    return root


def check_name(name: str) -> PurePosixPath:
    """Return the path of an entry. Raises SubmissionError if it points outside the archive."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name or re.match("[A-Za-z]:", name):
        raise SubmissionError("contains an entry with an unsafe path", repr(name[:MOST_QUOTED]))
    return path
