"""Looks through the tree of a submission for katas, and lists what is left aside and why.

- Hidden folders, folders whose names begin with `__`, and folders of installed packages are not entered.
- The folder with the katas can be anywhere, except in the folders that a handout has beside `assignment/`.
- If there is no kata, the katas may be in an archive in the submission. Archives in that archive are not opened.
"""

import unicodedata
from collections.abc import Mapping
from pathlib import PurePosixPath

from grader.pipeline import trees
from grader.pipeline.archives import MAX_ARCHIVE, Budget, find_foreign_ending, is_archive, open_archive
from grader.pipeline.submission import NOT_REGULAR, LeftAside, show_names
from grader.pipeline.trees import MAX_DEPTH, SubmissionError, Tree
from torchkata.course import course
from torchkata.course.submission import MAX_BYTES, MAX_FILES, is_module
from torchkata.inside.source.text import IS_POINTER, LFS_POINTER

MAX_TOTAL = 16 * 2**20  # maximum total size of all Python files that may be graded
MAX_ARCHIVES = 16  # maximum number of archives in a submission that are opened
MAX_ASIDE = 100  # maximum number of entries that are listed as left aside
PACKAGES = ("site-packages", "dist-packages", "node_modules")
ENVIRONMENT = "pyvenv.cfg"  # a file in every virtual environment
HANDOUT = ("tests", "reference", "torchkata", "docs", "grader", "examples")  # folders of the course: not students' code
A_NOTEBOOK = "a notebook; hand in the .py files that its cells with %%kata write"
TOO_MUCH = "can't be read within the limits of memory and time"


class Walk:
    """A search for the katas in a tree."""

    def __init__(self, tree: Tree) -> None:
        self.budget = Budget()
        self.entries = self.archives = self.python = 0
        self.clones: set[PurePosixPath] = set()  # repositories directly in the top folder
        self.candidates: dict[PurePosixPath, dict[str, bytes]] = {}  # the modules of each folder that has katas
        self.beside: dict[PurePosixPath, list[str]] = {}  # what else is in each of these folders
        self.names: set[str] = set()
        self.aside: list[LeftAside] = []
        self.katas = {f"{kata}.py" for kata in course().katas}
        self.visit(tree, PurePosixPath(), inside=1)
        if not self.candidates and self.archives:
            self.entries, self.aside = 0, []
            self.visit(tree, PurePosixPath(), inside=0)

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
            others = {*listing.files, *listing.folders, *listing.others}.difference(modules.values())
            self.beside[place] = sorted(name for name in others if not name.startswith((".", "__")))
        for name in listing.others:
            self.leave(place / name, NOT_REGULAR, matters=not is_handout and name in self.katas)
        for name in listing.repeated:
            self.leave(place / name, "several times in the archive; only the last one counts", matters=not is_handout)
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
            self.leave(place / name, NOT_REGULAR)

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
        elif path.suffix == ".ipynb":
            self.leave(path, A_NOTEBOOK)
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


def explain(error: Exception) -> SubmissionError:
    """Return the refusal for an error of the system or of a library."""
    if isinstance(error, (SubmissionError, MemoryError)):
        return SubmissionError(TOO_MUCH) if isinstance(error, MemoryError) else error
    if isinstance(error, OSError) and error.strerror:
        return SubmissionError(f"can't be read ({error.strerror})")
    return SubmissionError("can't be read", str(error) or type(error).__name__)
