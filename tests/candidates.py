"""Checks that a student's `check` accepts correct programs and rejects wrong programs.

reference/<kata>/hidden.toml    programs of the zoo, for the grader; a handout does not contain this file
reference/<kata>/visible.toml   programs that use the student's own code; they are used if there are no hidden ones

A group of wrong programs is caught if `check` rejects all of them and accepts all correct programs.
"""

import tomllib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from torchkata import Student, check, require

REFERENCE = Path(__file__).parents[1] / "reference"
CALLS = 2  # number of calls of `check` for each program, so that verdicts that depend on chance are noticed

trusted: WeakKeyDictionary[Student, set[str]] = (
    WeakKeyDictionary()
)  # the katas whose `check` accepts all correct programs


@dataclass(frozen=True)
class Program:
    """A program, and a sentence that says what is unusual or wrong about it."""

    says: str
    source: str
    is_visible: bool

    def add_text(self, text: str) -> str:
        """Return a colon and the text, or "" for a hidden program, because the text could reveal the program's code."""
        return f": {text}" if self.is_visible and text else ""


@dataclass(frozen=True)
class Candidates:
    """The programs that a kata's `check` must accept or reject."""

    kata: str
    probe: Callable[..., object]
    arguments: tuple[str, ...]  # arguments of the probe that come before the source of a program
    right: list[Program]
    wrong: dict[str, list[Program]]  # by group

    def call(self, student: Student, program: Program, seed: int) -> Any:
        """Return the verdict of the student's `check` on a program, and the text of its exception."""
        reply = student.call(self.probe, *self.arguments, program.source, seed % 2**32)
        return reply["verdict"], reply["text"]

    def assert_right_accepted(self, student: Student, seed: int, demand: Callable[..., None] = check) -> None:
        """Assert that `check` returns for every correct program. If `demand` is `require`, do so once per kata."""
        if demand is require and self.kata in trusted.get(student, ()):
            return
        for program in self.right:
            for attempt in range(CALLS if demand is check else 1):
                verdict, text = self.call(student, program, seed + attempt)
                note = f"check rejects a program that is correct ({program.says}){program.add_text(text)}"
                demand(verdict == "accepted", note)
        trusted.setdefault(student, set()).add(self.kata)

    def assert_group_caught(self, student: Student, group: str, seed: int) -> None:
        """Assert that `check` accepts every correct program and rejects the wrong ones in a group."""
        seed += zlib.crc32(group.encode())
        self.assert_right_accepted(student, seed, require)
        slipped = []
        for program in self.wrong[group]:
            replies = [self.call(student, program, seed + attempt) for attempt in range(CALLS)]
            verdicts = {verdict for verdict, _ in replies}
            if verdicts != {"rejected"}:
                slipped.append(f"{describe(verdicts)}: {program.says}{program.add_text(replies[0][1])}")
        check(not slipped, "; ".join(slipped))


def describe(verdicts: set[str]) -> str:
    """Describe what `check` does with a wrong program that it does not always reject, given its verdicts."""
    if "error" in verdicts:
        return "check raises an error other than AssertionError for a wrong program"
    return f"check accepts a wrong program{' in one of two calls' if len(verdicts) > 1 else ''}"


def load_candidates(kata: str, probe: Callable[..., object], *arguments: str) -> Candidates:
    """Return the hidden programs of a kata, or the visible ones if there are no hidden ones."""
    paths = [REFERENCE / kata / name for name in ("hidden.toml", "visible.toml")]
    path = next(path for path in paths if path.is_file())
    return read_candidates(path, kata, probe, *arguments)


def read_candidates(path: Path, kata: str, probe: Callable[..., object], *arguments: str) -> Candidates:
    """Read the programs in a file."""
    tables, is_visible = tomllib.loads(path.read_text("utf-8")), path.name == "visible.toml"

    def read(table: dict[str, dict[str, str]]) -> list[Program]:
        place = f" (reference/{kata}/{path.name}: {{}})" if is_visible else ""
        return [Program(one["says"] + place.format(name), one["source"], is_visible) for name, one in table.items()]

    wrong = {group: read(table) for group, table in tables["wrong"].items()}
    return Candidates(kata, probe, arguments, read(tables["right"]), wrong)
