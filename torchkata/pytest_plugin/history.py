"""What a student has done so far: the last run of each kata and the hints shown, in `.kata/progress.json`."""

import hashlib
import json
import os
import platform
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from torchkata.course import Kata, course
from torchkata.result import LOOK_OF, Status

FILE = ".kata/progress.json"
MAX_NAME = 100  # bytes of a name, in that of the file that is written aside


@dataclass(frozen=True)
class LastRun:
    """How the tests of a kata ended when they last ran all."""

    status: Status
    passed: int
    files: str  # `digest` of what was tested
    run: str  # another for every run
    earned: float | None = None  # points, if they are known


@dataclass(frozen=True)
class State:
    """All that is remembered, by kata."""

    runs: dict[str, LastRun] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)  # how many were shown
    cells: dict[str, str] = field(default_factory=dict)  # what a notebook's cell last wrote: `digest_of` it

    def status(self, kata: str) -> Status:
        """That of the last run, `not_graded` where there is none."""
        return self.runs[kata].status if kata in self.runs else "not_graded"

    def is_old(self, kata: str) -> bool:
        """Whether files have changed since the last run, which says nothing of them."""
        return kata in self.runs and self.runs[kata].files != compute_digest(kata)

    def is_done(self, kata: str) -> bool:
        """Whether it is known to be done as it is now."""
        return self.status(kata) == "done" and not self.is_old(kata)

    def next(self) -> Kata | None:
        """What to do next, None where all is done."""
        failed = [kata for kata in course().katas if LOOK_OF[self.status(kata)].colour == "red"]
        return find_next([kata for kata in course().katas if not self.is_done(kata)], failed)

    def with_runs(self, runs: Mapping[str, LastRun]) -> "State":
        """These in the place of older ones."""
        return replace(self, runs={**self.runs, **runs})

    def with_hints(self, kata: str, shown: int) -> "State":
        """So many hints of this kata have been shown."""
        return replace(self, hints={**self.hints, kata: shown})

    def with_cell(self, kata: str, content: bytes) -> "State":
        """A notebook's cell has written this."""
        return replace(self, cells={**self.cells, kata: hash_content(content)})

    def without(self, kata: str) -> "State":
        """Nothing of this kata."""
        runs = {name: run for name, run in self.runs.items() if name != kata}
        return replace(self, runs=runs, hints={name: shown for name, shown in self.hints.items() if name != kata})


def find_next(left: Collection[str], failed: Collection[str]) -> Kata | None:
    """Of the katas that are left to do: the first that has failed, or what it builds on; if none has, the first."""
    katas = course().katas
    first = next((kata for kata in katas if kata in failed), None)
    in_the_way = katas if first is None else (first, *course().foundations(first))
    return next((kata for kata in katas.values() if kata.name in left and kata.name in in_the_way), None)


def compute_digest(kata: str) -> str:
    """Of the files that a run depends on: the kata's own, those it builds on, helpers beside them, its tests."""
    others = course().katas.keys() - {kata, *course().foundations(kata)}
    files = [path for path in sorted(course().assignment.glob("*.py")) if path.stem not in others and path.is_file()]
    made = hashlib.sha256()
    for path in [*files, course().tests / f"test_{kata}.py"]:
        made.update(f"{path.name}:{hash_content(path.read_bytes())};".encode())
    return made.hexdigest()


def hash_content(content: bytes) -> str:
    """Of one file."""
    return hashlib.sha256(content).hexdigest()


def load_state() -> State:
    """What is remembered; what can't be read is forgotten."""
    try:
        stored = json.loads((course().root / FILE).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return State()
    runs = {kata: parse_last_run(entry) for kata, entry in find_entries(stored, "runs")}
    return State(
        {kata: run for kata, run in runs.items() if run is not None},
        {kata: shown for kata, shown in find_entries(stored, "hints") if type(shown) is int and shown > 0},
        {kata: content for kata, content in find_entries(stored, "cells") if isinstance(content, str)},
    )


def find_entries(stored: Any, table: str) -> list[tuple[str, Any]]:
    """What is stored for each kata that there is."""
    found = stored.get(table) if isinstance(stored, dict) else None
    return [(kata, found[kata]) for kata in course().katas if kata in found] if isinstance(found, dict) else []


def parse_last_run(entry: Any) -> LastRun | None:
    """None for what is none."""
    try:
        run = LastRun(**entry)
    except TypeError:
        return None
    texts = all(isinstance(text, str) for text in (run.files, run.run))
    numbers = type(run.passed) is int and isinstance(run.earned, int | float | None)
    return run if texts and numbers and run.status in LOOK_OF else None


def store_state(state: State) -> None:
    """Write aside, then put in place. Raises OSError."""
    path = course().root / FILE
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, json.dumps(asdict(state), indent=1).encode())


def write_atomically(
    path: Path, content: bytes, hold: Callable[[Path], AbstractContextManager[None]] | None = None
) -> None:
    """Write a file aside, and then put it in place, so that it is whole or the old one. Raises OSError.

    `hold` gives the context in which the file that is written aside stays in use.
    """
    kept = os.fsencode(path.name)[:MAX_NAME].decode("utf-8", "ignore")  # a name may be as long as names can be
    aside = path.with_name(f".{kept}.{platform.node()}.{os.getpid()}.tmp")  # another node may have this number
    try:
        with aside.open("wb") as file, hold(aside) if hold else nullcontext():
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
