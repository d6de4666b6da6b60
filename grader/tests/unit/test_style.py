"""Tests of the names of tests and types, of the length of stubs and of plurals; ruff checks the rest of the style."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.support.examples import find_docstrings
from torchkata.course import course

FOLDERS = ("assignment", "benchmarks", "grader", "reference", "scripts", "tests", "torchkata")
PLURAL = re.compile(  # a number of things in a message; a constant is written in capital letters
    r"(?<! of )(?<!all )\{(?:len\([^{}]*\)|[a-z][a-z_.]*)(?: \+ [^{}]*)?\} "
    "(?:submission|kata|file|task|cell|row|example|folder|student|person|stub|page|notebook)s\\b"
)
MOST_WORDS, MOST_CHARACTERS = 8, 70  # limits of a test's name
LONGEST_STUB = 250  # words of prose
CODE = re.compile(r"^ {4}.*$", re.MULTILINE)  # the lines of an example, a table or a formula in a docstring


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


def count_words(source: str) -> int:
    """Count the words in the docstrings and comments of a module, without examples, tables and formulas."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    return sum(len(CODE.sub("", text).split()) for text in [*find_docstrings(source), *comments])


def test_stubs_are_short() -> None:
    words = {name: count_words(course().stub(name).read_text("utf-8")) for name in course().katas}
    assert {name: count for name, count in words.items() if count > LONGEST_STUB}.keys() <= {"train_language_model"}


def test_stubs_name_the_katas_they_build_on() -> None:
    for kata in course().katas.values():
        source = course().stub(kata.name).read_text("utf-8")
        missing = [
            name for name in kata.builds_on if f"from .{name} import" not in source and f"`{name}`" not in source
        ]
        assert not missing, f"{kata.name} builds on {missing}: import them in the stub, or name them in a docstring"


def test_words_of_examples_are_not_counted() -> None:
    source = '''def f():
    """Return one.

    Example:
        f()     # 1: these words do not count

    Details: none
    """
    return 1  # a comment
'''
    assert count_words(source) == 7


def find_modules(*folders: str) -> list[Path]:
    """Return the modules in these folders, except the tests and the templates of new courses."""
    found = [path.relative_to(ROOT) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if not {"tests", "files"} & {*path.parts}]


def test_messages_can_count_to_one() -> None:
    found = [
        f"{path}: {match[0]}"
        for path in find_modules("grader", "torchkata")
        for match in PLURAL.finditer((ROOT / path).read_text("utf-8"))
    ]
    assert found == [], "use `count`, or write the noun before the number"


def test_name_of_type_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for path in find_modules("benchmarks", "grader", "scripts", "torchkata"):
        for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{path}:{node.lineno}")
            elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
                places.setdefault(ast.unparse(node.target), []).append(f"{path}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
