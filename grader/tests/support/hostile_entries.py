"""Generates random hostile entries of a class: trees of files and archives.

All choices are drawn from a `random.Random`, which may be provided by Hypothesis.
"""

import bz2
import gzip
import io
import lzma
import os
import random
import socket
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from grader.tests.support.submissions import SIEVE

T = TypeVar("T")

CANARY = "alicesmith"  # part of every name; must not occur in pseudonymized output
CODE = SIEVE.encode()
INNER_NAMES = (  # names of files and folders in an entry
    *("sieve.py", "assignment", ".git", "HEAD", "sub", f"{CANARY}.zip", f"{CANARY}.py", "notes.ipynb", "conftest.py"),
    *(
        "SIEVE.PY",
        "sieve.py ",
        f"{CANARY}\n\x1b[31m.py",
        f"{CANARY}\u202e.tar",
        f"{CANARY}\udce9.py",
        "x" * 252 + ".py",
    ),
)
MEMBER_NAMES = (  # names of members in an archive
    *(name for name in INNER_NAMES if name.isascii()),
    *("a/sieve.py", "a/b/sieve.py", "__MACOSX/._sieve.py", f"../{CANARY}.py", f"/{CANARY}.py", f"C:\\{CANARY}.py", ""),
    *("./sieve.py", "a//sieve.py", "sieve.py/", "é/sieve.py", "d/" * 500 + "sieve.py", "a" * 70_000),
)
NOTEBOOK = b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": "%%kata"}]}'
CONTENTS = (CODE, b"", b"\0", b"\xff\xfe\0", b"# coding: no-such-coding\n", b"x = " + b"(" * 5000, NOTEBOOK)
TIMES = (0, 1, 2**31 - 1, -(2**31), 2**33)
MODES = (0o755, 0o644, 0o000, 0o111, 0o222, 0o444, 0o7777)
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
TYPES = (tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, b"3", b"7", b"S", b"g")
FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
HEADERS = {
    "size": ("-1", "9" * 5000),
    "mtime": ("1e400", "nan", "-1"),
    "path": (f"../{CANARY}", "\x1b[31m"),
    "uid": ("x",),
}


def write(path: Path, content: bytes = CODE) -> None:
    """Write a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def make_fifo(path: Path) -> None:
    """Create a named pipe."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    """Create a socket that nobody listens on. Its path may be longer than a socket address allows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{folder}/s")
    os.rename("s", path.name, src_dir_fd=folder, dst_dir_fd=folder)
    os.close(folder)


def make_link(path: Path, to: str | Path) -> None:
    """Create a symbolic link."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(to)


def draw(chance: random.Random, most: int, values: Sequence[T]) -> list[T]:
    """Return up to `most` random elements of `values`."""
    return [chance.choice(values) for _ in range(chance.randrange(most + 1))]


def draw_content(chance: random.Random) -> bytes:
    """Return random content for a file."""
    kind = chance.randrange(10)
    return chance.randbytes(40) if kind == 0 else draw_archive(chance)[1] if kind == 1 else chance.choice(CONTENTS)


def make_tree(path: Path, chance: random.Random, depth: int = 3) -> None:
    """Create a file, pipe, socket or link, or a folder of such entries, with a random mode and modification time."""
    kind = chance.randrange(10 if depth else 5)
    if kind > 4:
        path.mkdir()
        for name in dict.fromkeys(draw(chance, 5, INNER_NAMES)):
            make_tree(path / name, chance, depth - 1)
    elif kind == 0:
        write(path, draw_content(chance))
        os.truncate(path, chance.choice((path.stat().st_size, 2**20 + 1, 2**30)))
    elif kind == 1:
        make_link(path, chance.choice(("sieve.py", "..", "/etc", "/etc/passwd", "nowhere", "/dev/zero", path.name)))
    elif kind == 2:
        chance.choice((make_fifo, make_socket))(path)
    else:
        write(path, draw_content(chance))
    if chance.randrange(3) == 0:
        os.utime(path, (0, chance.choice(TIMES)), follow_symlinks=False)
    if chance.randrange(3) == 0 and not path.is_symlink():
        path.chmod(chance.choice(MODES))


def draw_archive(chance: random.Random) -> tuple[str, bytes]:
    """Return a suffix and an archive, which may be truncated or corrupted."""
    ending, content = chance.choice((draw_zip, draw_tar))(chance)
    if content and chance.randrange(2):
        changed = bytearray(content)
        for _ in range(chance.randrange(60)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        content = bytes(changed[: chance.choice((len(changed), chance.randrange(len(changed))))])
    return ending, content


def draw_zip(chance: random.Random) -> tuple[str, bytes]:
    """Return a zip with random members, some of which exceed the size limit."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in dict.fromkeys(draw(chance, 5, MEMBER_NAMES)):
            info = zipfile.ZipInfo(name[:60_000] or "x")
            info.external_attr = chance.choice((0, 0o100644, 0o120777, 0o010644, 0o040755)) << 16
            info.compress_type = chance.choice(COMPRESSIONS)
            archive.writestr(info, chance.choice((*CONTENTS, bytes(2**20 + 1))))
        archive.comment = chance.choice((b"", chance.randbytes(30)))
    return ".zip", buffer.getvalue()


def draw_tar(chance: random.Random) -> tuple[str, bytes]:
    """Return a tar with random members, headers and compression."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=chance.choice(FORMATS), errors="replace") as archive:
        for name in draw(chance, 5, MEMBER_NAMES):
            member = tarfile.TarInfo(name if archive.format != tarfile.USTAR_FORMAT else name[:90])
            content = chance.choice(CONTENTS)
            member.type, member.linkname = chance.choice(TYPES), chance.choice(("sieve.py", "/etc/passwd", ".."))
            member.size, member.mode = len(content), chance.choice(MODES)
            for key in draw(chance, 1, list(HEADERS)):
                member.pax_headers = {key: chance.choice(HEADERS[key])}
            archive.addfile(member, io.BytesIO(content))
    pack = chance.choice((bytes, gzip.compress, bz2.compress, lzma.compress))
    return chance.choice((".tar", ".tar.gz", ".tgz", ".zip")), pack(buffer.getvalue())
