"""Finds when a submission that is a git repository was committed.

The student controls the repository, and git obeys a repository's settings, which may name programs to run. So git runs
in an empty repository of ours that only borrows the student's objects.
"""

import hashlib
import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

MAX_BYTES = 2**20  # of HEAD or a file of references
TIMEOUT = 20.0
OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
COMMIT = re.compile(r"[0-9a-f]{40}")
BRANCH = re.compile(r"ref: (refs/heads/[\w./-]+)")


def find_commit_time(path: Path, files: Mapping[str, bytes]) -> str:
    """Return the time, with zone, of the last commit; "" if no commit contains the graded files."""
    git = path / ".git"
    if not (is_folder(git) and is_folder(git / "objects")):
        return ""
    commit = read_head(git)
    if not commit:
        return ""
    candidates = [candidate for name in files for candidate in (name, f"assignment/{name}")]
    with tempfile.TemporaryDirectory() as folder:
        run_git(folder, git / "objects", "init", "--quiet", "--bare", ".")
        time = run_git(folder, git / "objects", "log", "-1", "--no-show-signature", "--format=%cI", commit)
        listing = run_git(folder, git / "objects", "ls-tree", "-z", commit, "--", *candidates)
    blobs = {line.partition("\t")[0].split()[-1] for line in listing.split("\0") if line}
    return time.strip() if files and blobs.issuperset(map(hash_blob, files.values())) else ""


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def read_head(git: Path) -> str:
    """Return the commit that is checked out; "" if it can't be determined."""
    head = read_small_file(git / "HEAD").strip()
    branch = BRANCH.fullmatch(head)
    if branch and ".." not in branch[1]:
        packed = [line.split() for line in read_small_file(git / "packed-refs").splitlines()]
        head = read_small_file(git / branch[1]).strip() or next(
            (line[0] for line in packed if line[1:] == [branch[1]]), ""
        )
    return head if COMMIT.fullmatch(head) else ""


def read_small_file(path: Path) -> str:
    """Return the text of a small file; "" for anything else."""
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except OSError:
        return ""
    try:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, MAX_BYTES).decode("utf-8", "replace") if is_file else ""
    finally:
        os.close(descriptor)


def hash_blob(content: bytes) -> str:
    """Return the hash by which git identifies a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def run_git(folder: str, objects: Path, *arguments: str) -> str:
    """Return git's output; "" if git is not installed or fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_DIR": folder}
    if arguments[0] != "init":
        environment |= {"GIT_OBJECT_DIRECTORY": str(objects.absolute()), "GIT_NO_REPLACE_OBJECTS": "1"}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT
        )
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return ""
    return done.stdout if done.returncode == 0 else ""
