"""Generates a class of hostile submissions from a seed: one of each known kind, followed by random ones.

When `integration/test_random_intake.py` finds a failure, add an entry to one of the lists below, or an archive to
`unit/test_hostile_archives.py`.
"""

import os
import random
from collections.abc import Callable
from pathlib import Path

from grader.tests.support.hostile_entries import (
    CANARY,
    draw_archive,
    make_fifo,
    make_link,
    make_socket,
    make_tree,
    write,
)
from grader.tests.support.submissions import SIEVE

DEPTH = 450  # depth of a tree whose path exceeds the system's limit
NAMES: tuple[Callable[[int], bytes], ...] = (
    lambda i: f"{CANARY}{i}".encode(),
    lambda i: f"{CANARY}-{i} é 李雷 \U0001f600".encode(),
    lambda i: CANARY.encode() + b"\xe9\xff%d" % i,  # Latin-1
    lambda i: f"{CANARY}\x1b]0;x\x07\x1b[31m{i}".encode(),
    lambda i: f"{CANARY}\n::error::{i}".encode(),
    lambda i: f"\u202e{CANARY}\u2066{i}".encode(),
    lambda i: f"{CANARY}\u2028\x85{i}".encode(),
    lambda i: f"=cmd|'{CANARY}{i}'!A1".encode(),
    lambda i: f"-rf {CANARY} $(touch {i}) `x` %0A;&|".encode(),
    lambda i: f"[red]<script>{CANARY}{i}|**x**".encode(),
    lambda i: f"{CANARY}{i}".ljust(244, "x").encode(),
    lambda i: (CANARY.upper() if i % 2 else CANARY).encode() + b"clash%d" % (i // 8),
    lambda i: f"{CANARY}{i}. .".encode(),
)


def linking(to: str) -> Callable[[Path], None]:
    """Return a function that creates a link."""
    return lambda path: make_link(path, to)


def make_deep(path: Path) -> None:
    """Create nested folders whose path is longer than the system allows."""
    path.mkdir()
    folder = os.open(path, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("assignment", dir_fd=folder)
        inner = os.open("assignment", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)


def make_sparse(path: Path) -> None:
    """Create a sparse kata file of one gigabyte."""
    write(path / "sieve.py", b"")
    os.truncate(path / "sieve.py", 2**30)


def make_folder(*names: str, mode: int = 0o755, content: bytes = SIEVE.encode()) -> Callable[[Path], None]:
    """Return a function that creates a folder with the given files and mode."""

    def make(path: Path) -> None:
        path.mkdir()
        for name in names:
            write(path / os.fsdecode(name.encode("latin-1")), content)
        path.chmod(mode)

    return make


def make_inside(make: Callable[[Path], None], name: str, mode: int | None = None) -> Callable[[Path], None]:
    """Return a function that creates a folder containing an entry of the given name."""

    def make_both(path: Path) -> None:
        path.mkdir()
        make(path / name)
        if mode is not None:
            (path / name).chmod(mode)

    return make_both


def make_twice(path: Path) -> None:
    """Create a loose file and its resubmission, named the way Canvas names them."""
    for i in (1, 2):
        write(path.with_name(f"{CANARY}_{len(path.name)}_{i}_sieve-{i}.py"))


GRADED: tuple[Callable[[Path], None], ...] = (  # each is slow to grade
    *(make_folder("sieve.py", content=content) for content in (b"\0", b"\xff\xfe\0", "é = 1\n".encode("utf-16"))),
    make_folder("sieve.py", content=b"# coding: no-such-coding\n"),
    make_folder("sieve.py", content=b"x = " + b"(" * 5000),
    make_folder("sieve.py", mode=0o7000),
    make_inside(lambda path: make_link(path, ".git"), ".git"),
    make_deep,
    make_sparse,
)
FOLDERS: tuple[Callable[[Path], object], ...] = (
    *(make_folder("sieve.py", mode=mode) for mode in (0o000, 0o111, 0o222)),
    *(make_inside(write, name, 0o000) for name in ("sieve.py", f"{CANARY}.zip")),
    *(make_inside(make_folder("x"), name, 0o000) for name in ("assignment", CANARY)),
    make_inside(make_folder("x"), f"{CANARY}.zip"),
    make_folder(),
    make_folder(f"{CANARY}.txt"),
    make_folder(f"{CANARY}.zip", f"{CANARY}\xe9\x1b[31m.tar.gz"),
    make_folder(*(f"{CANARY}{i}.py" for i in range(65)), "sieve.py"),
    make_folder("sieve.py", content=b"#" * (2**20 + 1)),
    *(make_inside(make, name) for make in (make_fifo, make_socket) for name in ("sieve.py", "assignment", ".git/HEAD")),
    *(make_inside(linking(to), name) for name, to in (("sieve.py", "sieve.py"), ("assignment", "/etc"))),
    make_inside(make_folder("x"), "sieve.py"),
    make_fifo,
    make_socket,
    *(linking(to) for to in ("/etc", "nowhere", "../class", "ada")),
    lambda path: make_link(path, path.name),
    make_twice,
)


def make_entry(folder: Path, number: int, chance: random.Random) -> None:
    """Create a hostile submission: one of the folders above, or a random tree or archive."""
    path = folder / os.fsdecode(chance.choice(NAMES)(number))
    if os.path.lexists(path):
        path = folder / f"{CANARY}{number}"
    kind = chance.randrange(10)
    if kind < 4:
        chance.choice(FOLDERS)(path)
    elif kind < 8:
        ending, content = draw_archive(chance)
        write(folder / f"{path.name}{ending}", content)
    else:
        make_tree(path, chance)


def make_hostile_class(folder: Path, seed: int, count: int) -> None:
    """Create at least `count` hostile submissions: each kind once with a plain name, then random kinds and names."""
    chance = random.Random(seed)
    kinds = [*GRADED, *FOLDERS]
    for number, make in enumerate(kinds):
        make(folder / f"{CANARY}{number}")
    for number in range(len(kinds), count):
        make_entry(folder, number, chance)
