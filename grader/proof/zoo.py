"""The zoo: correct implementations that the tests must accept, and wrong implementations that they must catch.

reference/<kata>/right/<name>.py  unusual but correct; the first line of the docstring says what is unusual
reference/<kata>/right.toml       the same for variants that change only parts of the solution: [<name>] `says` what is
                                  unusual, and `replace` has text replacements in the solution, as below
reference/<kata>/wrong.toml       wrong implementations:
    [patches]     mistakes from mistakes.py, by name. The value is a text replacement in the solution, `["old", "new"]`,
                  a list of replacements, or a table with several variants of the mistake
    [<name>]      any other implementation: `breaks` is the requirement that it violates; its code is given by `replace`
                  (replacements as above), `source` (the whole file) or `pasted` (code appended to a copy of the
                   oracle); `looks_like` lists the accepted diagnoses; `note` is a text that the failed test's own note
                   must contain
    [levels]      `central` and `conventions`: the entries that break such a rule; all others break an essential one
    [exceptions]  an entry that may lose fewer or more points than its level allows, with the reason
reference/<kata>/caught_by.toml   generated and checked by certify: the wrong entries that each test catches fastest
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.base.errors import CallError
from torchkata.course import CourseError, Kata, Level, course
from torchkata.course.load import check_keys, read_toml
from torchkata.diagnosis.mistakes import expand_constants, load_named_mistakes

PATCHES = "patches"  # the table in wrong.toml that has mistakes as keys
LEVELS, EXCEPTIONS = "levels", "exceptions"  # the tables in wrong.toml about points


@dataclass(frozen=True)
class ZooEntry:
    """An implementation of a kata."""

    kata: str
    name: str
    words: str  # a sentence that describes what is unusual or wrong
    source: str
    looks_like: frozenset[str] = frozenset()  # accepted diagnoses, as sentences
    caught_by: str = ""  # the test in `caught_by.toml` that catches it, or "" if none is recorded
    note: str = ""  # text that must occur in the note of that test
    level: Level = "essential"  # of the rule that it breaks
    exception: str = ""  # why its points may be outside the limits of its level


def read_package(folder: Path) -> dict[str, bytes]:
    """Return the kata files in a folder, keyed by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"}


def load_right(kata: Kata) -> Iterator[ZooEntry]:
    """Yield the correct but unusual implementations of a kata."""
    for path in sorted((course().folder(kata.name) / "right").glob("*.py")):
        source = path.read_text("utf-8")
        words = (ast.get_docstring(ast.parse(source, str(path))) or "").partition("\n")[0]
        yield ZooEntry(kata.name, path.stem, words, source)
    path = course().folder(kata.name) / "right.toml"
    for name, entry in read_toml(path).items() if path.exists() else ():
        check_keys(entry, RIGHT_KEYS, f"{path}: [{name}]")
        source = make_source(f"{kata.name}/right.toml: {name}", read_solution(kata), entry)
        yield ZooEntry(kata.name, name, entry.get("says", ""), source)


def load_wrong(kata: Kata) -> Iterator[ZooEntry]:
    """Yield the wrong implementations of a kata. Raises CallError if an entry is invalid."""
    path = course().folder(kata.name) / "wrong.toml"
    if path.exists():
        tests, tables = read_caught_by(kata), read_toml(path)
        entries, exceptions = dict(read_entries(kata, tables)), tables.get(EXCEPTIONS, {})
        levels = read_levels(path, tables.get(LEVELS, {}))
        for name in (levels.keys() | exceptions.keys()) - entries.keys():
            raise CourseError(f"{path}: [{LEVELS}] or [{EXCEPTIONS}] names {name}, which is not an entry")
        for name, entry in entries.items():
            check_entry(path, name, entry)
            place = f"{kata.name}/wrong.toml: {name}"
            if "pasted" in entry:
                entry["source"] = (course().folder(kata.name) / "oracle.py").read_text("utf-8") + entry["pasted"]
            source, sentences = make_source(place, read_solution(kata), entry), find_sentences(place, kata, entry)
            check_names(place, source, course().stub(kata.name).read_text("utf-8"))
            words = f"Breaks: {entry['breaks']}" if "breaks" in entry else f"Mistake: {describe_mistake(kata, entry)}"
            told = (tests.get(name, ""), entry.get("note", ""), levels.get(name, "essential"), exceptions.get(name, ""))
            yield ZooEntry(kata.name, name, words, source, sentences, *told)


def check_names(place: str, source: str, stub: str) -> None:
    """Raise CallError if a wrong implementation lacks a function or class of the stub, because it would fail for it."""
    try:
        ours, needed = (
            {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
            for text in (source, stub)
        )
    except SyntaxError as error:
        raise CallError(f"{place}: the stub or this program is not valid Python ({error})") from None
    if missing := needed - ours:
        raise CallError(f"{place}: {min(missing)} is missing, which the stub has, so it fails for another reason")


def read_levels(path: Path, table: dict[str, Any]) -> dict[str, Level]:
    """Return the level of each entry listed in the table `[levels]`. Raises CourseError if the table is not valid."""
    listed: tuple[Level, ...] = ("central", "conventions")
    check_keys(table, dict.fromkeys(listed, list), f"{path}: [{LEVELS}]")
    return {name: level for level in listed for name in table.get(level, ())}


def read_entries(kata: Kata, tables: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and table of each entry, in file order. Raises CallError if a name is used twice."""
    seen: set[str] = set()
    own = {title: table for title, table in tables.items() if title not in (LEVELS, EXCEPTIONS)}
    for title, table in own.items():
        for name, entry in expand_patches(table) if title == PATCHES else [(title, table)]:
            if name in seen:
                raise CallError(f"{kata.name}/wrong.toml: two entries are called {name!r}: rename one")
            seen.add(name)
            yield name, entry


def expand_patches(table: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of `[patches]`, one for each variant of a mistake."""
    for mistake, variants in table.items():
        for name, replace in variants.items() if isinstance(variants, dict) else [(mistake, variants)]:
            yield name, {"looks_like": mistake, "replace": replace}


def describe_mistake(kata: Kata, entry: dict[str, Any]) -> str:
    """Return the sentence that describes an entry's mistake, with the names of constants instead of values."""
    return re.sub(r"{(\w+)[^{}]*}", r"\1", load_named_mistakes(kata.name)[entry["looks_like"]].message)


RIGHT_KEYS = {"says": str, "replace": object}
KEYS = {"breaks": str, "replace": object, "source": str, "pasted": str, "looks_like": object, "note": str}


def check_entry(path: Path, name: str, entry: object) -> None:
    """Raise CourseError if an entry is not a table, has no `breaks`, or has an unknown key."""
    if not isinstance(entry, dict):
        raise CourseError(f"{path}: {name} is {entry!r}, expected a table [{name}]")
    if not {"breaks", "looks_like"} & entry.keys():
        raise CourseError(f"{path}: [{name}] has no `breaks`; add the requirement that it violates")
    check_keys(entry, KEYS, f"{path}: [{name}]")


def get_caught_by_path(kata: Kata) -> Path:
    """Return the path of the generated `caught_by.toml`."""
    return course().folder(kata.name) / "caught_by.toml"


def read_caught_by(kata: Kata) -> dict[str, str]:
    """Return the recorded test for each entry, excluding tests that no longer exist in the kata."""
    path = get_caught_by_path(kata)
    tests = read_toml(path) if path.exists() else {}
    return {name: test for test, names in tests.items() if test in kata.points for name in names}


def read_solution(kata: Kata) -> str:
    """Return the source of the reference solution."""
    return course().solution(kata.name).read_text("utf-8")


def find_sentences(name: str, kata: Kata, entry: dict[str, Any]) -> frozenset[str]:
    """Return the sentences for the mistakes in `looks_like`. Raises CallError if a mistake is unknown."""
    names, known = entry.get("looks_like", []), load_named_mistakes(kata.name)
    names = {names} if isinstance(names, str) else {*names}
    if unknown := names - known.keys():
        raise CallError(f"{name}: looks_like is {min(unknown)!r}, but {kata.name} has no such mistake")
    return frozenset(fit.message for one in names for fit in expand_constants(known[one]))


def make_source(name: str, solution: str, entry: dict[str, Any]) -> str:
    """Return the source of an implementation. Raises CallError if a replacement is invalid."""
    source: str = entry.get("source", solution)
    replace = entry.get("replace", [])
    for old, new in [replace] if replace and isinstance(replace[0], str) else replace:
        if source.count(old) != 1:
            raise CallError(f"{name}: {old!r} occurs {source.count(old)} times in the solution, expected once")
        source = source.replace(old, new)
    if source == solution:
        raise CallError(f"{name}: identical to the solution")
    return source
