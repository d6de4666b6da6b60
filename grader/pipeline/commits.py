"""Determines when a submission was committed, if it is a git repository.

The student controls the repository, and its git configuration may specify programs to run. This module therefore reads
the commit and its trees without git. It follows no links, never blocks, and limits the amount of work.
"""

import contextlib
import hashlib
import os
import re
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from pathlib import Path

MAX_BYTES = 2**20  # maximum size of a ref file or an object
MAX_WORK = 4 * 2**20  # maximum total size of all objects that are read
OBJECT_WORK = 2**14  # each object counts as this many additional bytes, which limits the number of objects
MAX_PACKS = 100
OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
COMMIT = re.compile(r"[0-9a-f]{40}")
BRANCH = re.compile(r"ref: (refs/heads/[\w./-]+)")
TREE = re.compile(rb"tree ([0-9a-f]{40})\n")
TIME = re.compile(rb"^committer [^\n]*> (\d{9,10}) ([+-])(0\d|1[0-4])([0-5]\d)$", re.MULTILINE)  # from 1973 to 2286
ENTRY = re.compile(rb"[0-7]{5,6} ([^\0]{1,255})\0(.{20})", re.DOTALL)
PACK_INDEX = b"\377tOc\0\0\0\2"
PACK_NAMES = 8 + 4 * 256  # offset of the sorted object names in a pack index
KINDS = {1: b"commit", 2: b"tree"}
OFFSET_DELTA, NAME_DELTA = 6, 7
MALFORMED = (OSError, ValueError, ArithmeticError, LookupError, RecursionError, struct.error, zlib.error)


def find_commit_time(path: Path, files: Mapping[str, bytes]) -> str:
    """Return the time of the commit that is checked out, including its time zone.

    Return "" if the commit does not contain all graded files, or if its time is missing or invalid.
    """
    try:
        with open_inside(None, str(path), ".git") as git, open_inside(git, "objects") as folder:
            objects = Objects(folder)
            commit = objects.read(read_head(git), b"commit").partition(b"\n\n")[0]
            tree, time = TREE.match(commit), TIME.search(commit)
            if not (files and tree and time):
                return ""
            root = read_tree(objects, tree[1].decode())
            inner = read_tree(objects, root["assignment"]) if "assignment" in root else {}
    except MALFORMED:
        return ""
    if any(hash_blob(content) not in (root.get(name), inner.get(name)) for name, content in files.items()):
        return ""
    sign = -1 if time[2] == b"-" else 1
    zone = timezone(sign * timedelta(hours=int(time[3]), minutes=int(time[4])))
    return datetime.fromtimestamp(int(time[1]), UTC).astimezone(zone).isoformat()


@contextlib.contextmanager
def open_inside(folder: int | None, *parts: str) -> Iterator[int]:
    """Open a path inside a folder without following links, and yield the descriptor. Raises OSError if that fails."""
    with contextlib.ExitStack() as opened:
        for part in parts:
            folder = os.open(part, OPEN_FLAGS, dir_fd=folder)
            opened.callback(os.close, folder)
        assert folder is not None
        yield folder


def read_head(git: int) -> str:
    """Return the id of the commit that is checked out. Raises ValueError or OSError if it can't be determined."""
    head = read_text(git, "HEAD").strip()
    branch = BRANCH.fullmatch(head)
    if branch:
        try:
            head = read_text(git, *branch[1].split("/")).strip()
        except FileNotFoundError:
            packed = [line.split() for line in read_text(git, "packed-refs").splitlines()]
            head = next((line[0] for line in packed if line[1:] == [branch[1]]), "")
    if not COMMIT.fullmatch(head):
        raise ValueError(head)
    return head


def read_text(folder: int, *parts: str) -> str:
    """Return the beginning of a text file.

    Raises ValueError if the path contains "..", and OSError if it is not a file.
    """
    if ".." in parts:
        raise ValueError(parts)
    with open_inside(folder, *parts) as file:
        return os.pread(file, MAX_BYTES, 0).decode("utf-8", "replace")


def read_tree(objects: "Objects", name: str) -> dict[str, str]:
    """Return the hashes of the entries of a tree object, keyed by name."""
    found = ENTRY.findall(objects.read(name, b"tree"))
    return {entry.decode("utf-8", "replace"): hash.hex() for entry, hash in found}


def hash_blob(content: bytes) -> str:
    """Return the hash that identifies the content of a file in git."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


class Objects:
    """The objects of a repository. Its methods raise one of `MALFORMED` if an object is unreadable or too large."""

    def __init__(self, folder: int) -> None:
        self.folder = folder
        self.left = MAX_WORK
        self.packs: list[str] = []
        with contextlib.suppress(FileNotFoundError), open_inside(folder, "pack") as pack, os.scandir(pack) as entries:
            names = (entry.name for entry in entries if entry.name.endswith(".idx"))
            self.packs = sorted(name.removesuffix(".idx") for name in islice(names, MAX_PACKS))

    def read(self, name: str, kind: bytes) -> bytes:
        """Return the content of the object with this name. Raises ValueError if it is not of type `kind`."""
        found, content = self.read_any(name)
        if found != kind:
            raise ValueError(found)
        return content

    def read_any(self, name: str) -> tuple[bytes, bytes]:
        """Return the type and content of an object, which is stored either in its own file or in a pack."""
        with contextlib.suppress(FileNotFoundError), open_inside(self.folder, name[:2], name[2:]) as file:
            header, _, content = self.unpack(file, 0).partition(b"\0")
            return header.split()[0], content
        for pack in self.packs:
            with open_inside(self.folder, "pack", f"{pack}.idx") as index:
                offset = find_offset(index, bytes.fromhex(name))
            if offset is not None:
                with open_inside(self.folder, "pack", f"{pack}.pack") as file:
                    return self.read_packed(file, offset)
        raise KeyError(name)

    def read_packed(self, file: int, offset: int) -> tuple[bytes, bytes]:
        """Return the type and content of the object at this offset in a pack."""
        self.spend(OBJECT_WORK)
        header = os.pread(file, 64, offset)
        kind, place = header[0] >> 4 & 7, skip_number(header, 0)
        if kind == OFFSET_DELTA:
            back, end = header[place] & 127, skip_number(header, place)
            for byte in header[place + 1 : end]:
                back = (back + 1) << 7 | byte & 127
            base = self.read_packed(file, offset - back)
        elif kind == NAME_DELTA:
            end = place + 20
            base = self.read_any(header[place:end].hex())
        else:
            return KINDS[kind], self.unpack(file, offset + place)
        return base[0], apply_delta(base[1], self.unpack(file, offset + end))

    def unpack(self, file: int, offset: int) -> bytes:
        """Return the uncompressed data at this offset in a file."""
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(os.pread(file, MAX_BYTES, offset), MAX_BYTES)
        self.spend(len(content))
        if not unpacker.eof:
            raise ValueError("too large")
        return content

    def spend(self, work: int) -> None:
        """Add to the cost of the objects read so far, and raise ValueError if the total exceeds the limit."""
        self.left -= work
        if self.left < 0:
            raise ValueError("too much work")


def find_offset(index: int, name: bytes) -> int | None:
    """Return the offset of an object in the pack that this index describes, or None if the object is not there."""
    if os.pread(index, len(PACK_INDEX), 0) != PACK_INDEX:
        return None
    ends = (0, *struct.unpack(">256I", os.pread(index, 4 * 256, len(PACK_INDEX))))
    places = range(ends[name[0]], ends[name[0] + 1])
    place = bisect_left(places, name, key=lambda place: os.pread(index, 20, PACK_NAMES + 20 * place))
    if place == len(places) or os.pread(index, 20, PACK_NAMES + 20 * places[place]) != name:
        return None
    (offset,) = struct.unpack(">I", os.pread(index, 4, PACK_NAMES + 24 * ends[-1] + 4 * places[place]))
    return int(offset)


def skip_number(content: bytes, place: int) -> int:
    """Return the position after a variable-length number: all of its bytes except the last have the highest bit set."""
    while content[place] & 128:
        place += 1
    return place + 1


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """Return the object that results from a delta, which copies parts of `base` and adds new bytes."""
    place, result = skip_number(delta, skip_number(delta, 0)), bytearray()
    while place < len(delta):
        code, place = delta[place], place + 1
        if code & 128:
            numbers = bytearray(7)
            for bit in range(7):
                if code >> bit & 1:
                    numbers[bit], place = delta[place], place + 1
            start = int.from_bytes(numbers[:4], "little")
            result += base[start : start + (int.from_bytes(numbers[4:], "little") or 0x10000)]
        else:
            result += delta[place : place + code]
            place += code
        if len(result) > MAX_BYTES:
            raise ValueError("too large")
    return bytes(result)
