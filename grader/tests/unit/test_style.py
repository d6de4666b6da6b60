"""Tests of the names of tests; ruff checks the style of everything else."""

import ast
from collections.abc import Iterator

import pytest

from grader.tests import ROOT

FOLDERS = ("assignment", "benchmarks", "grader", "reference", "scripts", "tests", "torchkata")
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
