"""Whether a handout holds functions or sentences of what stays with the instructor: the solution and the zoo.

What a stub, a hint or the oracle says or gives is there on purpose, and so is the contract, which the zoo's `breaks`
repeats.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchkata.course import cached_by_course, course
from torchkata.course.load import read_toml

STAYS = ("grader/", "examples/", "benchmarks/", "scripts/", "docs/")
GIVEN = ("docs/students.md", "docs/katas.md", "docs/zh/students.md")
PUBLIC = ("assignment/*.py", "reference/*/oracle.py")
CODE = ("source", "pasted", "code", "control", "before")  # keys of the zoo's tables
WORDS = ("words", "aim")
LEAST = 40  # characters: `return x @ weight` is no secret
SENTENCE_ENDS = re.compile(r"(?<=[.:;?!])\s+|\n\s*\n")


@dataclass(frozen=True)
class Secret:
    """Something that stays with the instructor, and where it stands."""

    text: str
    place: str


def leaks(files: Mapping[str, bytes]) -> list[str]:
    """What of the solution and the zoo is in these files, a line each."""
    ours = course().reference
    private = [path for path in files if path.startswith("reference/") and course().is_private(ours.parent / path)]
    kept = [path for path in files if path.startswith(STAYS) and path not in GIVEN]
    found = [f"{path} stays with the instructor" for path in (*kept, *private)]
    secret_bodies, secret_sentences = secrets()
    for path, content in files.items():
        text = content.decode("utf-8", "replace")
        if path.endswith(".py"):
            shown = set(bodies(text))
            found += [f"{path} has a function of {one.place}" for one in secret_bodies if one.text in shown]
        spread = flat(text)
        found += [f"{path} has a sentence of {one.place}: {one.text}" for one in secret_sentences if one.text in spread]
    return found


@cached_by_course
def secrets() -> tuple[tuple[Secret, ...], tuple[Secret, ...]]:
    """Function bodies and sentences."""
    paths = [path for path in course().reference.rglob("*") if course().is_private(path)]
    paths.sort(key=lambda path: (path.name != "solution.py", path))
    texts = [
        (path.relative_to(course().root).as_posix(), text)
        for path in paths
        if path.suffix in (".py", ".toml")
        for text in texts_of(path)
    ][::-1]  # what both have is called the solution's
    public = [path.read_text("utf-8") for pattern in PUBLIC for path in sorted(course().root.glob(pattern))]
    said_anyway, given = flat("".join(public)), {body for text in public for body in bodies(text)}
    functions = {body: place for place, text in texts for body in bodies(text) if body not in given}
    said = {one: place for place, text in texts for one in sentences(text) if one not in said_anyway}
    return tuple(Secret(*one) for one in functions.items()), tuple(Secret(*one) for one in said.items())


def texts_of(path: Path) -> Iterator[str]:
    """A module, or the code and the words in a table."""
    if path.suffix == ".py":
        yield path.read_text("utf-8")
    else:
        yield from chosen_texts(read_toml(path))


def chosen_texts(table: dict[str, Any]) -> Iterator[str]:
    """Those of a table and of the tables in it."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from chosen_texts(value)
        elif key in (*CODE, *WORDS):
            yield str(value)


def parsed(text: str) -> ast.Module | None:
    """The module; None for what is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def bodies(text: str) -> Iterator[str]:
    """What each function does, without docstrings, comments and layout; short ones are left out."""
    tree = parsed(text)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
            body = "\n".join(map(ast.unparse, statements))
            if len(body) >= LEAST:
                yield body


def sentences(text: str) -> Iterator[str]:
    """The sentences of docstrings and comments, or of a text that is no Python; short ones are left out."""
    tree = parsed(text)
    if tree is None:
        parts = [text]
    else:
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        parts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]
        parts += re.findall(r"#\s*(.+)", text)
    for part in parts:
        yield from (flat(one) for one in SENTENCE_ENDS.split(part) if len(flat(one)) >= LEAST)


def flat(text: str) -> str:
    """On one line."""
    return " ".join(text.split())
