"""The student's progress, stored in `.kata/progress.json`: the last run of each kata, and the number of hints shown."""

import hashlib
import json
import os
import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import Any

from torchkata.course import Kata, course
from torchkata.files import write_atomically
from torchkata.i18n import _
from torchkata.result import LOOK_OF, Status

FILE = ".kata/progress.json"


@dataclass(frozen=True)
class LastRun:
    """The outcome of the last complete test run of a kata."""

    status: Status
    passed: int
    files: str  # result of `compute_digest` for the tested files
    run: str  # a random id of the run
    earned: float | None = None  # points, if known
    number: int = 1  # number of complete runs so far, including this one but excluding runs of an empty stub


@dataclass
class State:
    """The stored progress of all katas."""

    runs: dict[str, LastRun] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)  # number of hints shown
    cells: dict[str, str] = field(default_factory=dict)  # digest of the file that a notebook cell last wrote

    def status(self, kata: str) -> Status:
        """Return the status of the last run, or `not_graded` if there is no run."""
        return self.runs[kata].status if kata in self.runs else "not_graded"

    def is_old(self, kata: str) -> bool:
        """Return whether any of the files have changed since the last run."""
        return kata in self.runs and self.runs[kata].files != compute_digest(kata)

    def is_done(self, kata: str) -> bool:
        """Return whether all tests passed in the last run and the files have not changed since then."""
        return self.status(kata) == "done" and not self.is_old(kata)

    def next(self) -> Kata | None:
        """Return the next kata to work on, or None if all katas are done."""
        failed = [kata for kata in course().katas if LOOK_OF[self.status(kata)].color == "red"]
        return find_next([kata for kata in course().katas if not self.is_done(kata)], failed)


def find_next(left: Collection[str], failed: Collection[str]) -> Kata | None:
    """Return the next kata: the first failed one or an unfinished prerequisite of it, otherwise the first in `left`."""
    katas = course().katas
    first = next((kata for kata in katas if kata in failed), None)
    in_the_way = katas if first is None else (first, *course().prerequisites(first))
    return next((kata for kata in katas.values() if kata.name in left and kata.name in in_the_way), None)


def compute_digest(kata: str) -> str:
    """Return a digest of the files that affect a run: the kata, its prerequisites, helper modules and tests."""
    others = course().katas.keys() - {kata, *course().prerequisites(kata)}
    files = [path for path in sorted(course().assignment.glob("*.py")) if path.stem not in others and path.is_file()]
    files.append(course().tests / f"test_{kata}.py")
    readable = [path for path in files if os.access(path, os.R_OK)]  # the tests say which file can't be read
    return hash_content("".join(f"{path.name}:{hash_content(path.read_bytes())};" for path in readable).encode())


def hash_content(content: bytes) -> str:
    """Return the SHA-256 digest of the content of a file."""
    return hashlib.sha256(content).hexdigest()


def load_state() -> State:
    """Load the stored progress, ignoring invalid entries."""
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
    """Return the entries in a stored table for katas of the course."""
    found = stored.get(table) if isinstance(stored, dict) else None
    return [(kata, found[kata]) for kata in course().katas if kata in found] if isinstance(found, dict) else []


def parse_last_run(entry: Any) -> LastRun | None:
    """Return a stored run, or None if the entry is not valid."""
    try:
        run = LastRun(**entry)
    except TypeError:
        return None
    texts = all(isinstance(text, str) for text in (run.files, run.run))
    numbers = type(run.passed) is type(run.number) is int and isinstance(run.earned, int | float | None)
    return run if texts and numbers and run.status in LOOK_OF else None


def store_state(state: State) -> None:
    """Store the progress. Raises OSError if the file can't be written."""
    path = course().root / FILE
    path.parent.mkdir(exist_ok=True)
    try:
        write_atomically(path, json.dumps(asdict(state), indent=1).encode())
    except PermissionError as error:
        if sys.platform == "win32" or path.parent.stat().st_uid == os.geteuid():
            raise
        place = path.parent.relative_to(course().root)
        text = _(
            "{place} belongs to another user (sudo, or a container?); run: sudo chown -R $USER {place}", place=place
        )
        raise PermissionError(error.errno, text) from None
