"""A handout and a newer one: what that brings takes its place, and what a student has written stays.

`reference/handout.sha256` lists what a handout brought, as `sha256sum` does. Whatever else lies there is the student's,
and so is a listed file that was changed: it is kept beside the new one. Of `assignment/` no byte is ever touched.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from . import HANDOUT

LIST = HANDOUT
STUBS = "reference/stubs"  # untouched, for `kata reset`
STUDENTS = "assignment"


class HandoutError(Exception):
    """This is no handout, or not whole; the message names the file."""


@dataclass(frozen=True)
class Updated:
    """What an update has done, by paths in the handout."""

    new: tuple[str, ...]  # written
    gone: tuple[str, ...]
    kept: dict[str, str]  # what a student had changed, and where that is now
    missing: tuple[str, ...]  # katas without a file in `assignment/`
    asked: tuple[str, ...]  # katas whose stub is another, while the student's file is as it was


def listing(files: Mapping[str, bytes]) -> bytes:
    """The list of these files, but for those that are a student's from the first."""
    lines = [f"{digest(content)}  {name}\n" for name, content in sorted(files.items()) if not is_students(name)]
    return "".join(lines).encode()


def listed(content: bytes) -> dict[str, str]:
    """The digests in such a list, by path. Raises HandoutError for what none of ours says."""
    found = {}
    for line in content.decode("utf-8", "replace").splitlines():
        value, _, name = line.partition("  ")
        if not name or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or is_students(name):
            raise HandoutError(LIST)
        found[name] = value
    return found


def is_students(name: str) -> bool:
    """Whether no update may touch it."""
    return PurePosixPath(name).parts[:1] == (STUDENTS,)


def digest(content: bytes) -> str:
    """The same on a system whose git ends lines in its own way."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def digest_of(path: Path) -> str:
    """That of a file; "" where there is none."""
    return digest(path.read_bytes()) if path.is_file() else ""


def update(root: Path, files: Mapping[str, bytes]) -> Updated:
    """Put the files of a newer handout in place of those that an older one brought.

    All are written aside first, and take their places one by one, the list last: what is stopped on the way has lost
    nothing, and is done by doing it again. Raises HandoutError where there is no list, and OSError.
    """
    if not (root / LIST).is_file():
        raise HandoutError(LIST)
    before, after = listed((root / LIST).read_bytes()), {name: digest(content) for name, content in files.items()}
    now = {name: digest_of(root / name) for name in {*before, *after} if not is_students(name)}
    new = sorted(name for name in now if name in after and now[name] != after[name])
    gone = sorted(name for name in now if name not in after and now[name])
    own = [name for name in (*new, *gone) if name != LIST and now[name] and now[name] != before.get(name)]
    kept = {name: free_name(root / name).relative_to(root).as_posix() for name in own}
    asked = [PurePosixPath(name).stem for name in new if PurePosixPath(name).parent == PurePosixPath(STUBS)]
    stubs = sorted(PurePosixPath(name).name for name in after if PurePosixPath(name).parent == PurePosixPath(STUBS))
    aside = Path(tempfile.mkdtemp(prefix=".update-", dir=root))
    try:
        for name in new:
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).write_bytes(files[name])
        for name, backup in kept.items():
            shutil.copyfile(root / name, root / backup)
        for name in sorted(new, key=lambda name: name == LIST):
            if name == LIST:
                remove(root, gone)
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).replace(root / name)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return Updated(
        tuple(name for name in new if name != LIST),
        tuple(gone),
        kept,
        tuple(name.removesuffix(".py") for name in stubs if not (root / STUDENTS / name).exists()),
        tuple(name for name in asked if digest_of(root / STUDENTS / f"{name}.py") not in ("", after[stub_of(name)])),
    )


def stub_of(kata: str) -> str:
    """Where a handout keeps a kata's untouched stub."""
    return f"{STUBS}/{kata}.py"


def remove(root: Path, names: list[str]) -> None:
    """These files, and the folders that are empty then."""
    for name in names:
        (root / name).unlink(missing_ok=True)
        folder = (root / name).parent
        while folder != root and not any(path.name != "__pycache__" for path in folder.iterdir()):
            shutil.rmtree(folder)
            folder = folder.parent


def free_name(file: Path) -> Path:
    """`linear.py.bak`, or with a number: no older backup is written over, and none is taken for a module."""
    names = [file.with_name(f"{file.name}.bak")]
    while names[-1].exists():
        names.append(file.with_name(f"{file.name}.bak{len(names) + 1}"))
    return names[-1]
