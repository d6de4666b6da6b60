"""Reads a submission: finds the folder with its katas, and says what was left aside and why.

A directory, a zip, a tar and loose files are all read by the same rules:

- Hidden folders, folders whose names begin with `__`, and folders of installed packages are not entered.
- The folder with the katas can be anywhere, except in the folders that a handout has beside `assignment/`.
- If several folders have katas, one of them must contain all files of the others, with the same content.
- If there is no kata, the katas may be in an archive in the submission. Archives in that archive are not opened.
"""

import os
import stat
import unicodedata
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.base.text import list_names, quote
from grader.pipeline import trees
from grader.pipeline.layouts import TITLES, Layout, guess_layout
from grader.pipeline.near_misses import find_near_misses
from grader.pipeline.trees import (
    ENDINGS,
    FOREIGN_ENDINGS,
    MAX_ARCHIVE,
    MAX_DEPTH,
    Budget,
    Directory,
    SubmissionError,
    Tree,
    VirtualFolder,
    find_foreign_ending,
    is_archive,
    open_archive,
    open_safely,
    read_open_file,
)
from torchkata.course import course
from torchkata.course.submission import MAX_BYTES, MAX_FILES, is_module
from torchkata.source.text import IS_POINTER, LFS_POINTER

MAX_TOTAL = 16 * 2**20  # maximum total size of all Python files that may be graded
MAX_ARCHIVES = 16  # maximum number of archives in a submission that are opened
MAX_ASIDE = 100  # maximum number of entries that are listed as left aside
MAX_NOTES = 10  # maximum number of lines for the instructor about one submission
PACKAGES = ("site-packages", "dist-packages", "node_modules")
ENVIRONMENT = "pyvenv.cfg"  # a file in every virtual environment
HANDOUT = ("tests", "reference", "torchkata", "docs", "grader", "examples")  # folders of the course: not students' code
TOO_MUCH = "can't be read within the limits of memory and time"
IF_A_CLASS = "; if this is a class, use: grader grade --layout folders DIR"
SHOWN = 5  # maximum number of names in a message
LONGEST = 60  # maximum number of characters of such a name


@dataclass(frozen=True)
class LeftAside:
    """A file or folder that is not part of the submission, and the reason."""

    path: str
    why: str
    matters: bool = False  # it may contain katas, so the instructor is told

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


@dataclass(frozen=True)
class Submission:
    """The id of a submission, and its files, keyed by name."""

    id: str
    files: dict[str, bytes]
    aside: tuple[LeftAside, ...] = ()
    near_misses: dict[str, str] = field(default_factory=dict)  # names that may be a missing kata, keyed by kata

    @property
    def judged(self) -> dict[str, bytes]:
        """The files, and everything else about the submission that a result depends on."""
        notes = [*self.near_misses.items(), *self.list_notes()]
        return {**self.files, **({"left aside": repr(notes).encode()} if notes else {})}

    def list_notes(self) -> list[str]:
        """Return a line for each entry that was left aside and may contain katas."""
        return [str(one) for one in self.aside if one.matters][:MAX_NOTES]


def read_submission(path: Path, loose: Sequence[tuple[str, Path]] = ()) -> Submission:
    """Read a submission of any kind. If `loose` files are given, the submission consists of only these files.

    Raises SubmissionError if it can't be read. No other error is raised.
    """
    try:
        if loose:
            return Walk().search(gather(loose), identify(path))
        with open_safely(path) as handed_in:
            return Walk().search(open_tree(handed_in, path.name), identify(path))
    except SubmissionError:
        raise
    except FileNotFoundError:
        raise SubmissionError("no such file or directory") from None
    except Exception as error:  # zipfile, tarfile and zlib raise many kinds of exceptions
        raise explain(error) from None


def explain(error: Exception) -> SubmissionError:
    """Return the refusal for an error of the system or of a library."""
    if isinstance(error, (SubmissionError, MemoryError)):
        return SubmissionError(TOO_MUCH) if isinstance(error, MemoryError) else error
    if isinstance(error, OSError) and error.strerror:
        return SubmissionError(f"can't be read ({error.strerror})")
    return SubmissionError("can't be read", str(error) or type(error).__name__)


def identify(path: Path) -> str:
    """Return the name of a submission, without an archive extension and in composed Unicode form (NFC).

    The path does not have to exist.
    """
    name = unicodedata.normalize("NFC", (path if path.name not in ("", "..") else path.resolve()).name)
    ending = next((ending for ending in (*ENDINGS, *FOREIGN_ENDINGS) if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def open_tree(handed_in: int, name: str) -> Tree:
    """Return the tree of an open directory, archive or other file.

    Raises SubmissionError if the submission is not acceptable, or OSError if it can't be read.
    """
    found = os.fstat(handed_in)
    if stat.S_ISDIR(found.st_mode):
        return Directory(handed_in, found.st_uid)
    content = read_open_file(handed_in, MAX_ARCHIVE, found.st_uid, "")
    if content is None:
        raise SubmissionError("not a file or directory")
    if is_archive(name) or not PurePosixPath(name).suffix:
        return open_archive(content, Budget())
    return VirtualFolder({name: lambda most: content[: most + 1]})


def gather(files: Sequence[tuple[str, Path]]) -> VirtualFolder:
    """Return a folder of loose files, under the names that the student gave them."""

    def read_from(name: str, path: Path) -> Callable[[int], bytes | None]:
        def read(most: int) -> bytes | None:
            with open_safely(path) as file:
                return read_open_file(file, most, os.fstat(file).st_uid, name)

        return read

    folder = VirtualFolder()
    for name, path in files:
        if name in folder.files:
            raise SubmissionError("two of its files have the same name; remove one", name)
        folder.files[name] = read_from(name, path)
    return folder


class Walk:
    """A search for the katas in a tree."""

    def __init__(self) -> None:
        self.budget = Budget()
        self.entries = self.archives = self.python = 0
        self.clones: set[PurePosixPath] = set()  # repositories directly in the top folder
        self.candidates: dict[PurePosixPath, dict[str, bytes]] = {}  # the modules of each folder that has katas
        self.names: set[str] = set()
        self.aside: list[LeftAside] = []
        self.katas = {f"{kata}.py" for kata in course().katas}

    def search(self, tree: Tree, name: str) -> Submission:
        """Return the submission that is found in a tree. Raises SubmissionError if there is none."""
        listing = tree.list_names()
        names = [*listing.files, *listing.folders]
        layout = guess_layout(names)
        is_chance = names == listing.files[:1] or (layout == "canvas" and not self.katas.isdisjoint(names))
        if layout and not is_chance:  # a single file, or one beside katas, may be named like one of a class
            raise build_class_refusal(layout)
        self.visit(tree, PurePosixPath(), inside=1)
        if not self.candidates and self.archives:
            self.entries, self.aside = 0, []
            self.visit(tree, PurePosixPath(), inside=0)
        if len(self.clones) > 1:
            raise build_class_refusal("github")
        self.demand_one_person({name for name in listing.files if is_archive(name) or find_foreign_ending(name)})
        files = self.choose()
        missing = [kata for kata in course().katas if f"{kata}.py" not in files]
        found = {kata: show_names(names) for kata, names in find_near_misses(missing, self.names).items()}
        if not files:
            raise SubmissionError(self.explain_nothing(found))
        return Submission(name, files, tuple(self.aside), found)

    def visit(self, tree: Tree, place: PurePosixPath, inside: int) -> None:
        """Look at a folder and all folders in it. Archives are opened if the folder is not `inside` an archive."""
        listing = tree.list_names()
        self.entries += len(listing.files) + len(listing.folders) + len(listing.others)
        if self.entries > trees.MAX_ENTRIES:
            raise SubmissionError(f"more than {trees.MAX_ENTRIES} entries")
        if ENVIRONMENT in listing.files:
            self.leave(place, "a virtual environment")
            return
        if len(place.parts) == 1 and ".git" in listing.folders:
            self.clones.add(place)
        is_handout = not {*HANDOUT}.isdisjoint(place.parts)
        modules = {unicodedata.normalize("NFC", name): name for name in listing.files}
        modules = {name: stored for name, stored in modules.items() if is_module(name)}
        is_candidate = not is_handout and not self.katas.isdisjoint(modules)
        if is_candidate:
            self.candidates[place] = self.read_modules(tree, modules)
        for name in listing.others:
            self.leave(place / name, "not a regular file")
        for name in listing.files:
            if not (is_candidate and unicodedata.normalize("NFC", name) in modules):
                self.judge(tree, place / name, inside, is_handout=is_handout)
        self.names.update(() if is_handout else listing.files)
        for name in listing.folders:
            if name.startswith((".", "__")) or name in PACKAGES:
                self.leave(place / name, "a folder of tools")
            elif len(place.parts) >= MAX_DEPTH:
                self.leave(place / name, f"more than {MAX_DEPTH} folders deep", matters=True)
            else:
                self.enter(tree, name, place, inside)

    def enter(self, tree: Tree, name: str, place: PurePosixPath, inside: int) -> None:
        """Look at a folder in this folder, unless it has been replaced since it was listed."""
        try:
            with tree.enter(name) as folder:
                self.visit(folder, place / name, inside)
        except NotADirectoryError:
            self.leave(place / name, "not a regular file")

    def judge(self, tree: Tree, path: PurePosixPath, inside: int, *, is_handout: bool) -> None:
        """Open a file that may be an archive, and list any other file as left aside."""
        if ending := find_foreign_ending(path.name):
            self.leave(path, f"a {ending} archive can't be read; hand in a .zip", matters=True)
        elif is_archive(path.name) and not is_handout:
            self.archives += 1
            if inside:
                self.leave(path, "an archive that was not opened", matters=True)
            else:
                self.open(tree, path)
        elif is_handout and path.name in self.katas:
            self.leave(path, "in a folder of the course, not in assignment/")
        else:
            self.leave(path, "not a Python module beside katas")

    def open(self, tree: Tree, path: PurePosixPath) -> None:
        """Look for katas in an archive. If it can't be read, it is left aside."""
        if self.archives > 2 * MAX_ARCHIVES:
            raise SubmissionError(f"contains more than {MAX_ARCHIVES} archives and no kata")
        try:
            content = tree.read(path.name, MAX_ARCHIVE)
            if content is not None:
                self.visit(open_archive(content, self.budget), path, inside=1)
        except MemoryError:
            raise
        except Exception as error:
            self.leave(path, str(explain(error)), matters=True)

    def read_modules(self, tree: Tree, names: Mapping[str, str]) -> dict[str, bytes]:
        """Return the Python modules of a folder. Raises SubmissionError if there are too many or they are too large."""
        if len(names) > MAX_FILES:
            raise SubmissionError(f"more than {MAX_FILES} Python files in one folder")
        files = {}
        for name, stored in sorted(names.items()):
            content = tree.read(stored, MAX_BYTES)
            if content is None:
                continue
            if len(content) > MAX_BYTES:
                raise SubmissionError(f"contains a file larger than {MAX_BYTES // 2**20} MiB")
            if content.startswith(LFS_POINTER):
                raise SubmissionError(f"a file is {IS_POINTER}", name)
            self.python += len(content)
            if self.python > MAX_TOTAL:
                raise SubmissionError(f"its Python files are larger than {MAX_TOTAL // 2**20} MiB in total")
            files[name] = content
        return files

    def leave(self, path: PurePosixPath, why: str, *, matters: bool = False) -> None:
        """List a file or folder as left aside."""
        if len(self.aside) < MAX_ASIDE * (2 if matters else 1):
            self.aside.append(LeftAside(show_names([str(path)]), why, matters))

    def demand_one_person(self, archives: Set[str]) -> None:
        """Raise SubmissionError if the entries of the top folder look like the submissions of a class."""
        tops = {place.parts[0] for place in self.candidates if place.parts}
        people = sorted({*tops, *archives})
        if len(tops) > 1 and len(people) > 2 and PurePosixPath() not in self.candidates:
            names = list_names([quote(name, LONGEST) for name in people])
            raise SubmissionError(f"katas of several people, or several versions: {names}; hand in one{IF_A_CLASS}")

    def choose(self) -> dict[str, bytes]:
        """Return the files of the folder with the katas. Raises SubmissionError if folders have different ones."""
        folders = {place: files for place, files in self.candidates.items() if not self.katas.isdisjoint(files)}
        if not folders:
            return {}
        chosen = max(folders, key=lambda place: (len(folders[place]), place.name == "assignment"))
        for place, files in folders.items():
            if not files.items() <= folders[chosen].items():
                raise SubmissionError(self.describe_conflict(folders, chosen, place))
            if place != chosen:
                self.leave(place, f"the same as {show_place(chosen)}")
        return folders[chosen]

    def describe_conflict(
        self, folders: Mapping[PurePosixPath, Mapping[str, bytes]], one: PurePosixPath, other: PurePosixPath
    ) -> str:
        """Return why a submission whose katas are in several folders can't be graded."""
        both = sorted(name for name, content in folders[other].items() if folders[one].get(name, content) != content)
        both.sort(key=lambda name: name not in self.katas)
        places = sorted(place for place in folders if not both or both[0] in folders[place])
        shown = [show_place(place) for place in places]
        names = " and ".join(shown) if len(shown) == 2 else list_names(shown)
        why = (
            f"{both[0]} is in {names}, and they differ: hand in one"
            if both
            else f"katas are in {names}: hand in one folder"
        )
        if len({place.parts[:1] for place in folders}) > 1 and PurePosixPath() not in folders:
            why += IF_A_CLASS
        return why

    def explain_nothing(self, near: Mapping[str, str]) -> str:
        """Return why there is nothing to grade, with what was found instead."""
        if near:
            found = "; ".join(f"there is {names}: is it {kata}.py?" for kata, names in [*near.items()][:SHOWN])
            return f"contains no kata; {found}"
        known = [one for one in self.aside if one.matters] or [one for one in self.aside if "course" in one.why]
        if known:
            return f"contains no kata; {'; '.join(map(str, known[:SHOWN]))}"
        if self.aside:
            return f"contains no kata; it has {', '.join(one.path for one in self.aside[:SHOWN])}"
        return f"contains no kata (such as assignment/{next(iter(course().katas))}.py)"


def build_class_refusal(layout: Layout) -> SubmissionError:
    """Return the refusal of a class that the instructor has not called one."""
    return SubmissionError(f"looks like a class from {TITLES[layout]}; use: grader grade --layout {layout} DIR")


def show_place(place: PurePosixPath) -> str:
    """Return a folder for use in a message."""
    return show_names([str(place)]) if place.parts else "the top folder"


def show_names(names: Sequence[str]) -> str:
    """Return the first few names for use in a message."""
    return " or ".join(quote(name, LONGEST) for name in names[:SHOWN])
