"""The zoo: implementations that the tests must accept, and ones that they must catch.

reference/<kata>/right/<name>.py  right but unusual; the first line of its docstring says how
reference/<kata>/wrong.toml       mistakes, each a table: `breaks` names the must, and either `replace` (texts of the
                                  solution and what stands there instead), `source` (the whole file) or
                                  `pasted` (what is appended to a copy of the oracle) makes it;
                                  `looks_like` names the mistake that it is, or all of them, for the diagnosis;
                                  `note` stands in the note of the test that catches it, and names it as well;
                                  `caught_by` names the test that catches it most cheaply, and says what it looks like:
                                  `certify --write-caught-by` writes it, certify checks it
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.base.errors import CallError
from torchkata.course import CourseError, Kata, course
from torchkata.course_files import table_of
from torchkata.mistakes import fitted, named_mistakes


@dataclass(frozen=True)
class ZooEntry:
    """One implementation of one kata."""

    kata: str
    name: str
    words: str  # what is unusual about it, or which must it breaks
    source: str
    looks_like: frozenset[str] = frozenset()  # the sentences of the mistakes that it is
    caught_by: str = ""  # the test that catches a wrong one, "" where nobody has looked yet
    note: str = ""  # what that test's own note says, where it names the mistake


def package(folder: Path) -> dict[str, bytes]:
    """The kata files of a folder of ours."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"}


def right(kata: Kata) -> Iterator[ZooEntry]:
    """The right but unusual implementations of a kata."""
    for path in sorted((course().folder(kata.name) / "right").glob("*.py")):
        source = path.read_text("utf-8")
        words = (ast.get_docstring(ast.parse(source, str(path))) or "").partition("\n")[0]
        yield ZooEntry(kata.name, path.stem, words, source)


def wrong(kata: Kata) -> Iterator[ZooEntry]:
    """The wrong implementations of a kata. Raises CallError for an entry that can't be made."""
    path = wrong_file(kata)
    if path.exists():
        for name, entry in table_of(path).items():
            check_keys(path, name, entry)
            place = f"{kata.name}/wrong.toml: {name}"
            if "pasted" in entry:
                entry["source"] = (course().folder(kata.name) / "oracle.py").read_text("utf-8") + entry["pasted"]
            source, sentences = made_wrong(place, solution(kata), entry), named(place, kata, entry)
            caught_by, note = remembered(place, kata, entry), entry.get("note", "")
            yield ZooEntry(kata.name, name, entry["breaks"], source, sentences, caught_by, note)


KEYS = ("breaks", "replace", "source", "looks_like", "note", "caught_by")


def check_keys(path: Path, name: str, entry: object) -> None:
    """Raise CourseError for an entry that is no table, that lacks `breaks`, or that has a key which means nothing."""
    if not isinstance(entry, dict):
        raise CourseError(f"{path}: {name} is {entry!r}; each entry is a table, [{name}]")
    if "breaks" not in entry:
        raise CourseError(f"{path}: [{name}] lacks breaks, the must that it breaks")
    if unknown := entry.keys() - {*KEYS}:
        raise CourseError(
            f"{path}: [{name}] has {min(unknown)!r}, which is no key of it; the keys are {', '.join(KEYS)}"
        )


def wrong_file(kata: Kata) -> Path:
    """Where the wrong implementations of a kata are written down."""
    return course().folder(kata.name) / "wrong.toml"


def solution(kata: Kata) -> str:
    """The source of our own solution."""
    return course().solution(kata.name).read_text("utf-8")


def named(name: str, kata: Kata, entry: dict[str, Any]) -> frozenset[str]:
    """What an entry looks like, in the words of its mistakes. Raises CallError for one that there is not."""
    given, known = entry.get("looks_like", []), named_mistakes(kata.name)
    names = {given} if isinstance(given, str) else {*given}
    if unknown := names - known.keys():
        raise CallError(f"{name}: looks_like is {min(unknown)!r}, which is no mistake of {kata.name}")
    return frozenset(fit.message for one in names for fit in fitted(known[one]))


def remembered(name: str, kata: Kata, entry: dict[str, Any]) -> str:
    """The test that catches an entry, "" where it says none. Raises CallError for one that there is not."""
    test: str = entry.get("caught_by", "")
    if test and test not in kata.points:
        raise CallError(f"{name}: caught_by is {test!r}, which is no test of {kata.name}")
    return test


def made_wrong(name: str, solution: str, entry: dict[str, Any]) -> str:
    """The source of a wrong implementation. Raises CallError."""
    source: str = entry.get("source", solution)
    for old, new in entry.get("replace", []):
        if source.count(old) != 1:
            raise CallError(f"{name}: {old!r} stands {source.count(old)} times in the solution, not once")
        source = source.replace(old, new)
    if source == solution:
        raise CallError(f"{name}: it is the solution")
    return source
