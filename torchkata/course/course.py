"""A course, with its folders and files, its katas, and its workloads."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .checks import check_katas
from .load import parse_kata, parse_workload, read_toml
from .model import Kata, Limits, Track, Workload

HIDDEN_PROGRAMS = "hidden.toml"  # programs for the tests that students write; private, but needed for grading
PRIVATE = frozenset(
    (
        *("solution.py", "fallback.py", "lint.toml", "wrong.toml", "caught_by.toml", HIDDEN_PROGRAMS),
        *("right", "right.toml", "cheats", "slow"),
    )
)


@dataclass(frozen=True)
class Course:
    """A course. Its files are read lazily."""

    root: Path
    title: str
    tracks: dict[str, Track]
    graded: tuple[str, ...]  # tracks that are graded by default
    limits: Limits = field(default_factory=Limits)
    languages: tuple[str, ...] = ("en",)
    preload: tuple[str, ...] = ()  # packages that student code may use; workers import them before they start
    dependencies: tuple[str, ...] = ()  # packages that students install: the dependency group `students`

    @property
    def packages(self) -> list[str]:
        """The packages that student code can rely on."""
        named = (re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in self.dependencies)
        return sorted({*named, *self.preload})

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
        """The folder that contains the oracles, mistakes, solutions and texts of all katas."""
        return self.root / "reference"

    def stub(self, kata: str) -> Path:
        """Return the path of the file that students edit."""
        return self.assignment / f"{kata}.py"

    def solution(self, kata: str) -> Path:
        """Return the path of the instructor's solution."""
        return self.folder(kata) / "solution.py"

    def fallback(self, kata: str) -> Path:
        """Return the path of the code that replaces a student's unfinished kata if other katas build on it."""
        return self.folder(kata) / "fallback.py"

    def test_file(self, kata: str) -> Path:
        """Return the path of the tests of a kata."""
        return self.tests / f"test_{kata}.py"

    def folder(self, kata: str) -> Path:
        """Return the path of the folder of a kata in `reference/`."""
        return self.reference / kata

    def rules(self) -> list[Path]:
        """Return the files that define tasks and points: the tests, and `reference/` except solutions and the zoo."""
        reference = [path for path in self.reference.rglob("*") if self.affects_points(path)]
        paths = [*reference, *self.tests.rglob("*"), self.root / "pyproject.toml", self.root / "conftest.py"]
        return sorted(path for path in paths if path.suffix in (".py", ".toml", ".po") and path.is_file())

    def is_private(self, path: Path) -> bool:
        """Return whether a file in `reference/` solves a kata or checks the tests, and thus must not be handed out."""
        return not PRIVATE.isdisjoint(path.relative_to(self.reference).parts)

    def affects_points(self, path: Path) -> bool:
        """Return whether tests may read a file in `reference/`, because it is public or contains hidden programs."""
        return path.name == HIDDEN_PROGRAMS or not self.is_private(path)

    def solutions(self) -> dict[str, bytes]:
        """Return the instructor's solutions by file name, in the form in which students submit their code."""
        return read_submission({name: self.solution(name) for name in self.katas})

    def fallbacks(self, katas: Iterable[str]) -> dict[str, bytes]:
        """Return the fallbacks of these katas in the same form. A package that students can read has none."""
        return read_submission({name: self.fallback(name) for name in katas})

    @cached_property
    def katas(self) -> dict[str, Kata]:
        """All katas by name, in order. Raises CourseError if the course is inconsistent."""
        katas = self.read_katas()
        check_katas(self, katas)
        return katas

    def read_katas(self) -> dict[str, Kata]:
        """Read all katas and return them by name, in order. Raises CourseError for an invalid file.

        Does not check whether the files are consistent with each other.
        """
        paths = sorted(self.reference.glob("*/kata.toml"))
        katas = [parse_kata(read_toml(path), path, self.tracks) for path in paths]
        order = list(self.tracks)
        return {kata.name: kata for kata in sorted(katas, key=lambda kata: (order.index(kata.track), kata.place))}

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        """The workloads by name, in order, except those that use a kata missing from this course."""
        path = self.reference / "workloads" / "workloads.toml"
        entries = read_toml(path).get("workload", []) if path.is_file() else []
        workloads = [parse_workload(entry) for entry in entries]
        return {workload.name: workload for workload in workloads if self.katas.keys() >= {*workload.uses}}

    @property
    def lint(self) -> dict[str, dict[str, Any]]:
        """The patterns in student code that are reported to instructors, by name. Empty in a handout."""
        path = self.reference / "lint.toml"
        return read_toml(path) if path.is_file() else {}

    def prerequisites(self, name: str) -> list[str]:
        """Return the katas that `name` builds on, directly or indirectly, in order."""
        needed = {name}
        for kata in reversed(self.katas.values()):
            if kata.name in needed:
                needed.update(kata.builds_on)
        return [kata for kata in self.katas if kata in needed - {name}]

    def dependents(self, name: str) -> list[str]:
        """Return the katas that build on `name`, directly or indirectly, in order."""
        return [kata for kata in self.katas if name in self.prerequisites(kata)]

    def timed_with(self, katas: Iterable[str]) -> tuple[Workload, ...]:
        """Return the workloads that are timed together with these katas: those whose last kata is one of them."""
        names = {*katas}
        return tuple(workload for workload in self.workloads.values() if workload.uses[-1] in names)

    def choose(self, names: Sequence[str], tracks: Sequence[str] = ()) -> list[Kata]:
        """Return the katas with these names or in these tracks, in course order. By default, return all katas.

        A string may contain several names separated by commas. The track `all` selects all katas. Raises ValueError for
        an unknown name.
        """
        chosen = {name for text in names for name in text.split(",")}
        chosen_tracks = {name for text in tracks for name in text.split(",")}
        if unknown := chosen - self.katas.keys():
            near = nearest(min(unknown), self.katas)
            remedy = f"did you mean {near}?" if near else f"the katas are {', '.join(self.katas)}"
            raise ValueError(f"there is no kata {min(unknown)!r}; {remedy}")
        if unknown := chosen_tracks - self.tracks.keys() - {"all"}:
            raise ValueError(f"there is no track {min(unknown)!r}; the tracks are {', '.join(self.tracks)} (or all)")
        everything = "all" in chosen_tracks or not (chosen or chosen_tracks)
        return [
            kata for kata in self.katas.values() if everything or kata.name in chosen or kata.track in chosen_tracks
        ]


def read_submission(paths: Mapping[str, Path]) -> dict[str, bytes]:
    """Return the contents of the files that exist, keyed by the name that a student's file for the kata has."""
    return {f"{name}.py": path.read_bytes() for name, path in paths.items() if path.is_file()}


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the name that is most similar to `name`, or "" if none of the names is similar."""
    from difflib import get_close_matches  # only needed for error messages

    return next(iter(get_close_matches(Path(name).stem.lower(), names, n=1)), "")
