"""Tests of the names of tests and of plurals in messages; ruff checks the style of everything else."""

import ast
import re
from collections.abc import Iterator

import pytest

from grader.tests import ROOT

FOLDERS = ("assignment", "benchmarks", "grader", "reference", "scripts", "tests", "torchkata")
PLURAL = re.compile(  # a number of things in a message; a constant is written in capital letters
    r"(?<! of )(?<!all )\{(?:len\([^{}]*\)|[a-z][a-z_.]*)(?: \+ [^{}]*)?\} "
    "(?:submission|kata|file|task|cell|row|example|folder|student|person|stub|page|notebook)s\\b"
)
MOST_WORDS, MOST_CHARACTERS = 8, 70  # limits of a test's name


def find_functions(folder: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions in a folder, each with its file and line number."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_of_tests_are_short(folder: str) -> None:
    for place, function in find_functions(folder):
        if function.name.startswith("test_"):
            name = function.name.removeprefix("test_")
            assert len(name.split("_")) <= MOST_WORDS, f"{place}: {name}"
            assert len(function.name) <= MOST_CHARACTERS, f"{place}: {name}"


def test_messages_can_count_to_one() -> None:
    places = [*(ROOT / "grader").rglob("*.py"), *(ROOT / "torchkata").rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in places
        if "tests" not in path.relative_to(ROOT).parts
        for match in PLURAL.finditer(path.read_text("utf-8"))
    ]
    assert found == [], "use `count`, or write the noun before the number"
