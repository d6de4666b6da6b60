"""When a hand-in that is a git repository was committed: what its last commit says, if that holds what is graded.

The repository is the student's, and git does what a repository's own settings say. So git runs in an empty one of ours,
and looks up the student's objects alone.
"""

import hashlib
import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

MOST = 2**20  # bytes of a file of references
SECONDS = 20.0
OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
COMMIT = re.compile(r"[0-9a-f]{40}")
BRANCH = re.compile(r"ref: (refs/heads/[\w./-]+)")


def committed(path: Path, files: Mapping[str, bytes]) -> str:
    """The last commit's time with its zone; "" for no repository, and where other files are graded than committed."""
    git = path / ".git"
    if not (is_folder(git) and is_folder(git / "objects")):
        return ""
    commit = head_of(git)
    if not commit:
        return ""
    places = [place for name in files for place in (name, f"assignment/{name}")]
    with tempfile.TemporaryDirectory() as ours:
        said = [
            run(ours, git / "objects", *asked)
            for asked in (
                ("init", "--quiet", "--bare", "."),
                ("log", "-1", "--no-show-signature", "--format=%cI", commit),
                ("ls-tree", "-z", commit, "--", *places),
            )
        ]
    blobs = {line.partition("\t")[0].split()[-1] for line in said[2].split("\0") if line}
    return said[1].strip() if files and blobs.issuperset(map(blob, files.values())) else ""


def is_folder(path: Path) -> bool:
    """Whether it is one itself, and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def head_of(git: Path) -> str:
    """The commit that is checked out; "" where that can't be told."""
    head = text_of(git / "HEAD").strip()
    branch = BRANCH.fullmatch(head)
    if branch and ".." not in branch[1]:
        packed = [line.split() for line in text_of(git / "packed-refs").splitlines()]
        head = text_of(git / branch[1]).strip() or next((line[0] for line in packed if line[1:] == [branch[1]]), "")
    return head if COMMIT.fullmatch(head) else ""


def text_of(path: Path) -> str:
    """What is in a small file; "" for anything else."""
    try:
        descriptor = os.open(path, OPENED)
    except OSError:
        return ""
    try:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, MOST).decode("utf-8", "replace") if is_file else ""
    finally:
        os.close(descriptor)


def blob(content: bytes) -> str:
    """By what git knows a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def run(folder: str, objects: Path, *arguments: str) -> str:
    """What git says there; "" where it is not installed, or does not know."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_DIR": folder}
    if arguments[0] != "init":
        environment |= {"GIT_OBJECT_DIRECTORY": str(objects.absolute()), "GIT_NO_REPLACE_OBJECTS": "1"}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return ""
    return done.stdout if done.returncode == 0 else ""
