"""Updates a handout. New files replace the old ones, and the student's work is kept.

`reference/handout.sha256` lists the files of a handout in the format of `sha256sum`. All other files belong to the
student. If the student has changed a listed file, a backup of it is kept. `assignment/` is never modified.

An instructor's handout also contains the engine as a wheel, which the student installs. Its version, such as
`0.2.0+h1f3a9c0e`, ends with a digest of its files, so that it names exactly this engine.
"""

import hashlib
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path, PurePosixPath

from torchkata.inside.text import Text

from .model import CourseError

LIST = "reference/handout.sha256"  # this file exists only in a handout
STUBS = "reference/stubs"  # the original stubs, which `kata reset` restores
STUDENTS = "assignment"
WHEEL = "reference/torchkata-{version}-py3-none-any.whl"
REQUIREMENTS = "requirements.txt"  # of pip: the wheel, and the packages that students' code needs
UNSAFE = re.compile(
    r"""[\\:*?"<>|~]          # a Windows separator, drive, wildcard or short name (PROGRA~1)
    | (^|/) (/|$)            # an absolute path, or an empty part
    | [. ] (/|$)             # "." and "..", and what Windows strips from the end of a name
    | (^|/) (con|prn|aux|nul|com\d|lpt\d) ([./]|$)  # a Windows device
    """,
    re.VERBOSE | re.IGNORECASE,
)


class HandoutError(Exception):
    """Raised if a folder or archive is not a complete handout. The message names the missing or changed file."""


@dataclass(frozen=True)
class Updated:
    """The changes made by an update, as paths relative to the handout."""

    new: tuple[str, ...]  # files that were written
    gone: tuple[str, ...]  # files that were removed
    backups: dict[str, str]  # the backup of each file that the student had changed
    missing: tuple[str, ...]  # katas without a file in `assignment/`
    changed: tuple[str, ...]  # katas whose stub is new and different from the student's file


def is_self_study(root: Path) -> bool:
    """Return whether `kata init` wrote this course. A handout from an instructor contains the engine."""
    has_engine = bool(find_engine(root)) or (root / "torchkata").is_dir()  # a wheel, or a folder in older handouts
    return (root / LIST).is_file() and not has_engine


def find_engine(root: Path) -> str:
    """Return the version of the engine in an instructor's handout, or "" for any other course."""
    listed = (root / LIST).read_text("utf-8", "replace") if (root / LIST).is_file() else ""
    before, after = (re.escape(part) for part in WHEEL.split("{version}"))
    found = re.search(f"  {before}(.+){after}$", listed, re.MULTILINE)
    return found[1] if found else ""


@cache
def find_version() -> str:
    """Return the version of the running engine, or "?" if it was copied instead of installed."""
    try:
        return metadata.version("torchkata")
    except metadata.PackageNotFoundError:
        return "?"


def check_engine(root: Path) -> None:
    """Raise CourseError if a handout contains another engine than the one that is running."""
    if not (needed := find_engine(root)):
        return
    plain, running = needed.partition("+")[0], find_version()
    if running not in (needed, plain):  # the plain version is that of the instructor who released the handout
        text = Text(
            "this handout needs torchkata {needed}, but {running} is running: run `pip install -r {file}` (or "
            "`uv sync`) in the folder of the handout, and start again",
            needed=needed,
            running=running,
            file=REQUIREMENTS,
        )
        raise CourseError(text)


def listing(files: Mapping[str, bytes]) -> bytes:
    """Return a listing of these files as text, excluding files in `assignment/`."""
    lines = [f"{digest(content)}  {name}\n" for name, content in sorted(files.items()) if not is_students(name)]
    return "".join(lines).encode()


def parse_listing(content: bytes) -> dict[str, str]:
    """Return the digests in a listing, by path.

    Raises HandoutError for a line that `listing` could not have written.
    """
    lines = [line.partition("  ") for line in content.decode("utf-8", "replace").splitlines()]
    names = [name for _, _, name in lines]
    if find_unsafe(names) is not None or any(is_students(name) for name in names):
        raise HandoutError(LIST)
    return {name: value for value, _, name in lines}


def find_unsafe(names: Iterable[str]) -> str | None:
    """Return a path that leads out of the folder or coincides with another path on some system, or None."""
    spelled: dict[str, str] = {}
    for name in names:
        folders = map(str, PurePosixPath(name).parents)
        if not name.isprintable() or UNSAFE.search(name):
            return name
        if any(spelled.setdefault(fold(path), path) != path for path in (name, *folders)):
            return name
    return None


def fold(name: str) -> str:
    """Return a normal form of a path: equal for two paths that are the same on a case-insensitive file system."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def is_students(name: str) -> bool:
    """Return whether a path belongs to the student and must not be modified by updates."""
    return fold(name).partition("/")[0] == STUDENTS


def digest(content: bytes) -> str:
    """Return the SHA-256 digest of a file. CRLF is treated as LF, because git may convert line endings."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def digest_of(path: Path) -> str:
    """Return the digest of the file at a path, or "" if the file does not exist."""
    return digest(path.read_bytes()) if path.is_file() else ""


def update(root: Path, files: Mapping[str, bytes]) -> Updated:
    """Replace the files of the handout in `root` with the files of a newer handout.

    All files are first written to a temporary folder and then moved one by one, ending with the listing. An interrupted
    update therefore loses nothing and can be repeated. Raises HandoutError if `root` has no listing, or OSError if a
    file can't be written.
    """
    if not (root / LIST).is_file():
        raise HandoutError(LIST)
    before, after = parse_listing((root / LIST).read_bytes()), {name: digest(files[name]) for name in files}
    now = {name: digest_of(root / name) for name in {*before, *after} if not is_students(name)}
    new = sorted(name for name in now if name in after and now[name] != after[name])
    spelled = {fold(name) for name in after}
    gone = sorted(name for name in now if fold(name) not in spelled and now[name])
    edited = [name for name in (*new, *gone) if name != LIST and now[name] and now[name] != before.get(name)]
    backups = {name: free_name(root / name).relative_to(root).as_posix() for name in edited}
    stubs = {PurePosixPath(name).name: name for name in sorted(after) if PurePosixPath(name).parent.as_posix() == STUBS}
    temporary = Path(tempfile.mkdtemp(prefix=".update-", dir=root))
    try:
        for name in new:
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).write_bytes(files[name])
        for name, backup in backups.items():
            shutil.copyfile(root / name, root / backup)
        for name in sorted(new, key=lambda name: name == LIST):
            if name == LIST:
                remove(root, gone)
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).replace(root / name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    present = {name: digest_of(root / STUDENTS / name) for name in stubs if (root / STUDENTS / name).exists()}
    return Updated(
        new=tuple(name for name in new if name != LIST),
        gone=tuple(gone),
        backups=backups,
        missing=tuple(name.removesuffix(".py") for name in stubs if name not in present),
        changed=tuple(
            name.removesuffix(".py")
            for name, path in stubs.items()
            if path in new and present.get(name, "") not in ("", after[path])
        ),
    )


def stub_of(kata: str) -> str:
    """Return the path of the original stub of a kata in a handout."""
    return f"{STUBS}/{kata}.py"


def remove(root: Path, names: list[str]) -> None:
    """Remove these files, and any folders that become empty."""
    for name in names:
        (root / name).unlink(missing_ok=True)
        folder = (root / name).parent
        while folder != root and not any(path.name != "__pycache__" for path in folder.iterdir()):
            shutil.rmtree(folder)
            folder = folder.parent


def free_name(file: Path) -> Path:
    """Return an unused name for a backup that cannot be imported: `linear.py.bak`, `linear.py.bak2` and so on."""
    names = [file.with_name(f"{file.name}.bak")]
    while names[-1].exists():
        names.append(file.with_name(f"{file.name}.bak{len(names) + 1}"))
    return names[-1]
