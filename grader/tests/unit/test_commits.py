"""Tests of reading a commit's time from a student's repository without git, even if the repository is malformed."""

import hashlib
import os
import random
import tracemalloc
import zlib
from pathlib import Path

import pytest

from grader.pipeline.commits import find_commit_time
from grader.tests.support.submissions import COMMIT_TIME, commit_all, run_git

FILES = {"linear.py": b"x = 1\n"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Create a repository whose only commit contains the graded file."""
    (tmp_path / "assignment").mkdir()
    (tmp_path / "assignment/linear.py").write_bytes(FILES["linear.py"])
    return commit_all(tmp_path)


def add_commit(repository: Path, time: str, message: bytes = b"done") -> None:
    """Create and check out a commit with arbitrary text as its time, which git itself would reject."""
    tree = run_git(repository, "rev-parse", "HEAD^{tree}")
    content = f"tree {tree}\nauthor a <a@x> 1 +0000\ncommitter a <a@x> {time}\n\n".encode() + message
    content = b"commit %d\0" % len(content) + content
    name = hashlib.sha1(content).hexdigest()
    path = repository / ".git/objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(content))
    (repository / ".git/HEAD").write_text(f"{name}\n")


@pytest.mark.parametrize(
    ("time", "found"),
    [
        (COMMIT_TIME, "2026-09-21T16:13:20+02:00"),
        ("1790000000 -0330", "2026-09-21T10:43:20-03:30"),
        ("1790000000 +9999", ""),
        ("1790000000 +1500", ""),
        ("-5000000000 +0000", ""),
        ("253402300799 -1200", ""),
        ("99999999999999999999 +0000", ""),
        ("١٧٩٠٠٠٠٠٠٠ +0000", ""),
    ],
)
def test_implausible_commit_time_is_rejected(repository: Path, time: str, found: str) -> None:
    add_commit(repository, time)
    assert find_commit_time(repository, FILES) == found


def test_huge_git_object_is_not_unpacked(repository: Path) -> None:
    add_commit(repository, COMMIT_TIME, bytes(64 * 2**20))
    tracemalloc.start()
    assert find_commit_time(repository, FILES) == ""
    assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    tracemalloc.stop()


@pytest.mark.parametrize("place", ["HEAD", "objects", "objects/pack", "objects/ab", f"objects/ab/{'ab' * 19}"])
@pytest.mark.parametrize("kind", ["pipe", "link", "file"])
def test_git_reader_ignores_pipes_and_links(repository: Path, place: str, kind: str) -> None:
    path = repository / ".git" / place
    path.parent.mkdir(exist_ok=True)
    (repository / ".git/HEAD").write_text("ab" * 20)
    if path.exists():
        path.rename(repository / "elsewhere")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("/")
    else:
        path.write_text("text")
    assert find_commit_time(repository, FILES) == ""


def test_commit_times_from_packs_match_git_log(repository: Path) -> None:
    draw = random.Random(0)
    for number in range(30):
        (repository / f"file{draw.randrange(60)}").write_text(f"{number}")
        commit_all(repository, "done\n" * 30, at=f"{1790000000 + number} -0700")
    commits = [line.split() for line in run_git(repository, "log", "--format=%H %cI").splitlines()]
    for deltas_by_offset in ("true", "false"):
        run_git(repository, "config", "repack.useDeltaBaseOffset", deltas_by_offset)
        run_git(repository, "repack", "-adfq", "--depth=50", "--window=50")
        assert not [path for path in (repository / ".git/objects").glob("??/*") if path.is_file()]
        for name, time in commits:
            (repository / ".git/HEAD").write_text(name)
            assert find_commit_time(repository, FILES) == time
        (repository / ".git/HEAD").write_text("ref: refs/heads/main")


def test_corrupted_git_pack_raises_no_error(repository: Path) -> None:
    draw = random.Random(0)
    run_git(repository, "repack", "-adq")
    for path in (repository / ".git/objects/pack").iterdir():
        path.chmod(0o600)
        content = path.read_bytes()
        for _ in range(200):
            damaged = bytearray(content)
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
            path.write_bytes(damaged[: draw.choice((len(damaged), draw.randrange(len(damaged))))])
            assert find_commit_time(repository, FILES) in ("", "2026-09-21T16:13:20+02:00")
        path.write_bytes(content)


def test_self_referencing_git_delta_does_not_loop(repository: Path) -> None:
    run_git(repository, "repack", "-adq")
    name = run_git(repository, "rev-parse", "HEAD")
    (pack,) = (repository / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o600)
    pack.write_bytes(bytes(12) + b"\x70" + bytes.fromhex(name))  # the commit is the first object in a pack file
    assert find_commit_time(repository, FILES) == ""
