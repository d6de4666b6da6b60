"""The course: where it lies, and what it says of itself.

    pyproject.toml               [tool.torchkata]: title, tracks, limits, languages, and so on
    assignment/<kata>.py         the stub
    tests/test_<kata>.py         its properties; tests/probes/<kata>.py where objects must be built
    reference/<kata>/kata.toml   title, hints, points; beside it oracle, mistakes, solution and zoo
    reference/workloads/         what is timed, if anything is

A command uses the course whose `pyproject.toml` is nearest, from the working directory upward, or the one it is given.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, wraps
from math import fsum
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from .load import course_fields, kata_from, table_of, workload_from
from .model import CourseError, HiddenSays, Kata, Limits, Tier, Tiers, Track, Visibility, Workload

ENGINE = Path(__file__).resolve().parents[2]  # the folder that holds the packages `torchkata` and `grader`

HANDOUT = "reference/handout.sha256"  # only a handout has this file: the list of what it brought
TRACK_POINTS = 100  # of all katas of a track together
DEFINED = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

Asked = ParamSpec("Asked")
Said = TypeVar("Said")

__all__ = [
    "ENGINE",
    "HANDOUT",
    "PRIVATE",
    "TRACK_POINTS",
    "Course",
    "CourseError",
    "HiddenSays",
    "Kata",
    "Limits",
    "Tier",
    "Tiers",
    "Track",
    "Visibility",
    "Workload",
    "cached_by_course",
    "compare_tests",
    "course",
    "find",
    "is_chosen",
    "is_course",
    "nearest",
    "read",
    "use",
    "use_none",
]


@dataclass(frozen=True)
class Course:
    """All that a course says of itself; what stands in files is read when it is first asked for."""

    root: Path
    title: str
    tracks: dict[str, Track]
    graded: tuple[str, ...]  # the tracks that are graded unless a command says otherwise
    limits: Limits = field(default_factory=Limits)
    languages: tuple[str, ...] = ("en",)
    preload: tuple[str, ...] = ()  # packages that students' code may use: workers have imported them before they begin
    dependencies: tuple[str, ...] = ()  # what students install for it: the dependency group `students`

    @property
    def assignment(self) -> Path:
        """The folder of the stubs."""
        return self.root / "assignment"

    @property
    def tests(self) -> Path:
        """The folder of the tests."""
        return self.root / "tests"

    @property
    def reference(self) -> Path:
        """The folder of what is known of each kata."""
        return self.root / "reference"

    def stub(self, kata: str) -> Path:
        """What a student edits."""
        return self.assignment / f"{kata}.py"

    def solution(self, kata: str) -> Path:
        """What stays with the instructor."""
        return self.folder(kata) / "solution.py"

    def fallback(self, kata: str) -> Path:
        """What takes the place of a student's kata that is not done, where another builds on it."""
        return self.folder(kata) / "fallback.py"

    def test_file(self, kata: str) -> Path:
        """The tests of a kata."""
        return self.tests / f"test_{kata}.py"

    def folder(self, kata: str) -> Path:
        """What is known of one kata."""
        return self.reference / kata

    def rules(self) -> list[Path]:
        """The files that say what is asked and what it is worth: all of tests and reference but what is private."""
        known = [path for path in self.reference.rglob("*") if not self.is_private(path)]
        paths = [*known, *self.tests.rglob("*"), self.root / "pyproject.toml", self.root / "conftest.py"]
        return sorted(path for path in paths if path.suffix in (".py", ".toml") and path.is_file())

    def is_private(self, path: Path) -> bool:
        """Whether a file below `reference/` proves the tests, or solves them: it never leaves the course."""
        return not PRIVATE.isdisjoint(path.relative_to(self.reference).parts)

    def solutions(self) -> dict[str, bytes]:
        """Our own solution, as a student would hand it in: by file name."""
        paths = {name: self.solution(name) for name in self.katas}
        return {f"{name}.py": path.read_bytes() for name, path in paths.items() if path.is_file()}

    @cached_property
    def katas(self) -> dict[str, Kata]:
        """All of them by name, in order. Raises CourseError."""
        katas = self.read_katas()
        check(self, katas)
        return katas

    def read_katas(self) -> dict[str, Kata]:
        """Read all of them by name, in order, without checking that they fit together. Raises CourseError."""
        found = [
            kata_from(table_of(path), path, self.tracks, self.languages)
            for path in sorted(self.reference.glob("*/kata.toml"))
        ]
        order = list(self.tracks)
        return {kata.name: kata for kata in sorted(found, key=lambda kata: (order.index(kata.track), kata.place))}

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        """Those that use katas of this course alone, by name, in order."""
        path = self.reference / "workloads" / "workloads.toml"
        entries = table_of(path).get("workload", []) if path.is_file() else []
        workloads = [workload_from(entry) for entry in entries]
        return {workload.name: workload for workload in workloads if self.katas.keys() >= {*workload.uses}}

    @property
    def lint(self) -> dict[str, dict[str, Any]]:
        """What instructors are told of some katas' sources, by name; nothing in what leaves the course."""
        path = self.reference / "lint.toml"
        return table_of(path) if path.is_file() else {}

    @cached_property
    def shared_texts(self) -> dict[str, dict[str, Any]]:
        """What several katas say in another language, by language: titles of tracks, claims, mistakes."""
        paths = {language: self.reference / f"{language}.toml" for language in self.languages}
        return {language: table_of(path) for language, path in paths.items() if path.is_file()}

    def foundations(self, name: str) -> list[str]:
        """What `name` builds on, directly or not, in order."""
        needed = {name}
        for kata in reversed(self.katas.values()):
            if kata.name in needed:
                needed.update(kata.builds_on)
        return [kata for kata in self.katas if kata in needed - {name}]

    def dependents(self, name: str) -> list[str]:
        """What builds on `name`, directly or not, in order."""
        return [kata for kata in self.katas if name in self.foundations(kata)]

    def timed_with(self, katas: Iterable[str]) -> tuple[Workload, ...]:
        """The workloads whose last kata is among these."""
        names = {*katas}
        return tuple(workload for workload in self.workloads.values() if workload.uses[-1] in names)

    def choose(self, names: Sequence[str], tracks: Sequence[str] = ()) -> list[Kata]:
        """The katas of these names and of these tracks in the course's order, all for neither.

        One text may name several, with commas between; the track `all` is all of them. Raises ValueError for a name
        that there is not.
        """
        chosen = {name for text in names for name in text.split(",")}
        themes = {name for text in tracks for name in text.split(",")}
        if unknown := chosen - self.katas.keys():
            near = nearest(min(unknown), self.katas)
            others = f"did you mean {near}?" if near else f"the katas are {', '.join(self.katas)}"
            raise ValueError(f"there is no kata {min(unknown)!r}; {others}")
        if unknown := themes - self.tracks.keys() - {"all"}:
            raise ValueError(f"there is no track {min(unknown)!r}; the tracks are {', '.join(self.tracks)} (or all)")
        everything = "all" in themes or not (chosen or themes)
        return [kata for kata in self.katas.values() if everything or kata.name in chosen or kata.track in themes]


def nearest(name: str, names: Iterable[str]) -> str:
    """The one of these names that was probably meant, "" where none is near."""
    from difflib import get_close_matches  # needed where something is wrong alone

    return next(iter(get_close_matches(Path(name).stem.lower(), names, n=1)), "")


PRIVATE = frozenset(
    ("solution.py", "fallback.py", "lint.toml", "wrong.toml", "caught_by.toml", "right", "attacks", "cheats", "slow")
)
CURRENT: list[Course] = []  # at most one: a process works on one course


def course() -> Course:
    """The course of this process: the one it was told to `use`, or the nearest. Raises CourseError."""
    if not CURRENT:
        found = find(Path.cwd())
        if found is None:
            raise CourseError("there is no course here: change into the folder that has its pyproject.toml")
        use(found)
    return CURRENT[0]


def cached_by_course(function: Callable[Asked, Said]) -> Callable[Asked, Said]:
    """Remember what a function says of the course in use, apart from what it says of another."""
    by_root: defaultdict[Path, Callable[..., Said]] = defaultdict(lambda: cache(function))

    @wraps(function)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Said:
        return by_root[course().root](*args, **kwargs)

    return asked


def is_chosen() -> bool:
    """Whether this process works on a course already, and looks for none."""
    return bool(CURRENT)


def use(root: Path) -> Course:
    """Make the course in this folder that of this process, its modules importable. Raises CourseError."""
    CURRENT[:] = [read(root.resolve())]
    if sys.path[:1] != [str(CURRENT[0].root)]:
        sys.path.insert(0, str(CURRENT[0].root))
    return CURRENT[0]


def use_none() -> None:
    """Let this process work without a course, as if on one without katas."""
    CURRENT[:] = [Course(root=Path(__file__).parent, title="no course", tracks={}, graded=())]


def find(start: Path) -> Path | None:
    """The nearest folder, from here upward, that holds a course. Raises CourseError for one that can't be read."""
    return next((folder for folder in (start, *start.parents) if is_course(folder)), None)


def is_course(folder: Path) -> bool:
    """Whether its `pyproject.toml` says so. Raises CourseError for one that names us and can't be read."""
    path = folder / "pyproject.toml"
    try:
        named = b"torchkata" in path.read_bytes()
    except OSError:
        return False
    return named and "torchkata" in table_of(path).get("tool", {})


def read(root: Path) -> Course:
    """The course in this folder. Raises CourseError."""
    return Course(root, **course_fields(root))


def check(course: Course, katas: Mapping[str, Kata]) -> None:
    """Raise CourseError, in one line, for the first thing that does not fit together.

    Every kata has a test file and builds on katas that exist, and a stub with a test file is a kata. The points are
    checked where the course is written, not in a handout: it may have a part of a track, and its points were checked
    when it was released.
    """
    for name, kata in katas.items():
        if unknown := {*kata.builds_on} - katas.keys():
            raise CourseError(
                f"{course.folder(name) / 'kata.toml'}: builds_on names {min(unknown)!r}, which is no kata"
            )
        if name in kata.builds_on:
            raise CourseError(f"{course.folder(name) / 'kata.toml'}: builds_on names {name!r}, the kata itself")
        if not course.test_file(name).is_file():
            raise CourseError(f"{course.folder(name)}: the kata {name} has no tests (tests/test_{name}.py)")
    for path in sorted(course.tests.glob("test_*.py")):
        name = path.stem.removeprefix("test_")
        if name not in katas and course.stub(name).is_file():
            raise CourseError(f"{path}: there is no kata of this name (reference/{name}/kata.toml)")
    if not (course.root / HANDOUT).is_file():
        for kata in katas.values():
            check_tests(course, kata)
        for track in course.tracks:
            check_total(course, track, [kata for kata in katas.values() if kata.track == track])


def check_total(course: Course, track: str, katas: Sequence[Kata]) -> None:
    """Raise CourseError for a track without katas, and for one whose points do not add up to `TRACK_POINTS`."""
    path = course.root / "pyproject.toml"
    if not katas:
        raise CourseError(f"{path}: the track {track} has no katas; `grader new kata NAME --track {track}` writes one")
    total = fsum(points for kata in katas for points in kata.points.values())
    if abs(total - TRACK_POINTS) > 1e-6:
        each = ", ".join(f"{kata.name} {kata.max_score:g}" for kata in katas)
        raise CourseError(
            f"{path}: the points of the track {track} add up to {total:g} and not to {TRACK_POINTS}: {each} "
            "([points] in reference/<kata>/kata.toml)"
        )


def check_tests(course: Course, kata: Kata) -> None:
    """Raise CourseError for a test without points and for points without a test, as far as the source shows it.

    The file is searched and not imported. It may also get tests from elsewhere (`globals().update(...)`), so that
    pytest and the grader compare again what they have collected.
    """
    if not kata.points:
        told = course.folder(kata.name) / "kata.toml"
        raise CourseError(f"{told}: [points] is empty; it names every test of tests/test_{kata.name}.py")
    source = course.test_file(kata.name).read_text("utf-8", errors="replace")
    found = {*DEFINED.findall(source)}
    if found - kata.test_functions:
        found &= defined_in(source)  # without those inside a text
    if "globals()" in source or "import *" in source:
        found |= kata.test_functions
    found |= {name for name in kata.test_functions - found if re.search(rf"\b{re.escape(name)}\b", source)}
    compare_tests(course, kata, found, kata.test_functions)


def defined_in(source: str) -> set[str]:
    """Return the names of the functions of a module; of none if Python can't parse it."""
    try:
        return {node.name for node in ast.parse(source).body if isinstance(node, FUNCTIONS)}
    except (SyntaxError, ValueError):
        return set()


def compare_tests(course: Course, kata: Kata, found: Collection[str], scored: Collection[str]) -> None:
    """Raise CourseError for a test that was found and is not `scored`, and for one that is and was not found."""
    folder, file = course.folder(kata.name), course.test_file(kata.name)
    if extra := {*found} - {*scored}:
        told = (folder / "kata.toml").relative_to(course.root)
        raise CourseError(f"{file}: {min(extra)} has no points; give it some, or 0, in [points] of {told}")
    if missing := {*scored} - {*found}:
        told = file.relative_to(course.root)
        raise CourseError(f"{folder / 'kata.toml'}: [points] names {min(missing)}, which is no test in {told}")
