"""Tests of the style of names and docstrings; ruff checks the rest (rules D and D401)."""

import ast
import re
from collections.abc import Iterator

import pytest

from grader.tests import ROOT

FOLDERS = ("assignment", "benchmarks", "grader", "reference", "scripts", "tests", "torchkata")
MOST_WORDS, MOST_CHARACTERS = 8, 70  # limits of a test's name
NOT_VERBS = re.findall(
    r"\w+",
    """
    a an the what whether which who whose whoever those these this that of for from to in into on at by with without as
    how where when why all one each every its their his no not nothing none never only both some any it is are was such
    so if two three more many everything whatever half there between until after before
""",
)


def find_functions(folder: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions in a folder, each with its file and line number."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def is_property(function: ast.FunctionDef) -> bool:
    """Return whether a function is a property, whose docstring may be a noun phrase."""
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_of_functions_begin_with_a_verb(folder: str) -> None:
    for place, function in find_functions(folder):
        if not function.name.startswith("test_") and not is_property(function):
            words = re.findall(r"[A-Za-z][A-Za-z'-]+", ast.get_docstring(function) or "")
            assert not words or words[0].lower() not in NOT_VERBS, f"{place}: {words[0]}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_of_tests_are_short(folder: str) -> None:
    for place, function in find_functions(folder):
        if function.name.startswith("test_"):
            name = function.name.removeprefix("test_")
            assert len(name.split("_")) <= MOST_WORDS, f"{place}: {name}"
            assert len(function.name) <= MOST_CHARACTERS, f"{place}: {name}"
