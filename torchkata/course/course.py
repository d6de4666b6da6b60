"""A course: its settings, its katas, and its workloads."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from torchkata.inside.text import Text

from .checks import check_katas
from .files import CourseFiles
from .load import parse_kata, parse_workload, read_toml
from .model import CourseError, Kata, Limits, Track, Workload


@dataclass(frozen=True)
class Course(CourseFiles):
    """A course. Its files are read lazily."""

    title: str
    tracks: dict[str, Track]
    graded: tuple[str, ...]  # tracks that are graded by default
    limits: Limits = field(default_factory=Limits)
    languages: tuple[str, ...] = ("en",)
    preload: tuple[str, ...] = ()  # packages that student code may use; workers import them before they start
    dependencies: tuple[str, ...] = ()  # packages that students install: the dependency group `students`
    grader_python: str = ""  # the Python that the grader may have, such as "3.12"; a release notes its own version
    ending: str = ""  # what works once all katas are done
    ways: dict[str, tuple[str, ...]] = field(default_factory=dict)  # recommended katas, by the title of the way

    @property
    def packages(self) -> list[str]:
        """The packages that student code can rely on."""
        named = (re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in self.dependencies)
        return sorted({*named, *self.preload})

    def solutions(self) -> dict[str, bytes]:
        """Return the instructor's solutions by file name, in the form in which students submit their code."""
        return read_submission({name: self.solution(name) for name in self.katas})

    def other_solutions(self, katas: Iterable[str]) -> dict[str, bytes]:
        """Return unusual but correct solutions of these katas, as `<kata>/<name>.py`."""
        paths = (path for name in katas for path in sorted((self.folder(name) / "right").glob("*.py")))
        return {f"{path.parents[1].name}/{path.name}": path.read_bytes() for path in paths}

    def fallbacks(self, katas: Iterable[str]) -> dict[str, bytes]:
        """Return the fallbacks of these katas in the same form. A package that students can read has none."""
        return read_submission({name: self.fallback(name) for name in katas})

    @cached_property
    def katas(self) -> dict[str, Kata]:
        """All katas by name, in order. Raises CourseError if the course is inconsistent."""
        katas = self.read_katas()
        if unknown := {name for names in self.ways.values() for name in names} - katas.keys():
            raise CourseError(f"{self.root / 'pyproject.toml'}: ways names {min(unknown)!r}, which is not a kata")
        check_katas(self, self.tracks, katas)
        return katas

    def read_katas(self) -> dict[str, Kata]:
        """Read all katas and return them by name, in order. Raises CourseError for an invalid file.

        Does not check whether the files are consistent with each other.
        """
        paths = sorted(self.reference.glob("*/kata.toml"))
        katas = [parse_kata(read_toml(path), path, self.tracks, self.tests) for path in paths]
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

    def with_prerequisites(self, names: Iterable[str]) -> list[Kata]:
        """Return these katas and all katas that they build on, in order."""
        names = [*names]
        needed = {*names}.union(*map(self.prerequisites, names))
        return [kata for kata in self.katas.values() if kata.name in needed]

    def timed_with(self, katas: Iterable[str]) -> tuple[Workload, ...]:
        """Return the workloads that are timed together with these katas: those whose last kata is one of them."""
        names = {*katas}
        return tuple(workload for workload in self.workloads.values() if workload.uses[-1] in names)

    def choose(self, names: Sequence[str], tracks: Sequence[str] = ()) -> list[Kata]:
        """Return the katas with these names or in these tracks, in course order. By default, return all katas.

        Each of the `names` is a kata or a track. A string may contain several names separated by commas. The track
        `all` selects all katas. Raises ValueError for an unknown name.
        """
        known_tracks = {*self.tracks, "all"}
        chosen = {name for text in names for name in text.split(",")}
        chosen_tracks = {name for text in tracks for name in text.split(",")} | (chosen & known_tracks)
        if unknown := chosen - self.katas.keys() - known_tracks:
            name, near = repr(min(unknown)), nearest(min(unknown), [*self.katas, *self.tracks])
            if near:
                raise ValueError(Text("there is no kata or track {name}; did you mean {near}?", name=name, near=near))
            known = ", ".join(self.katas)
            raise ValueError(Text("there is no kata or track {name}; the katas are {katas}", name=name, katas=known))
        if unknown := chosen_tracks - known_tracks:
            name, known = repr(min(unknown)), ", ".join(self.tracks)
            raise ValueError(
                Text("there is no track {track}; the tracks are {tracks} (or all)", track=name, tracks=known)
            )
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
