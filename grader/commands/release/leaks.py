"""Searches a handout for leaks, which are functions or sentences from the solution or from the zoo.

Texts that also occur in a stub or an oracle are intentionally public.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torchkata.course import cached_by_course, course
from torchkata.course.load import read_toml

PRIVATE = ("grader/", "examples/", "benchmarks/", "scripts/", "docs/")
GIVEN = ("docs/students.md", "docs/katas.md", "docs/zh/students.md")
PUBLIC = ("assignment/*.py", "reference/*/oracle.py")
CODE = ("source", "pasted", "code", "control", "before")  # keys in the tables of the zoo
WORDS = ("words", "aim")
LEAST = 40  # minimum number of characters; shorter code such as `return x @ weight` is not considered secret
SENTENCE_ENDS = re.compile(r"(?<=[.:;?!])\s+|\n\s*\n")


def find_leaks(files: Mapping[str, bytes]) -> list[str]:
    """Return a line for each leak from the solution or the zoo that is found in these files."""
    root = course().reference.parent
    private = [path for path in files if path.startswith(PRIVATE) and path not in GIVEN]
    private += [path for path in files if path.startswith("reference/") and course().is_private(root / path)]
    found = [f"{path} is for instructors only" for path in private]
    bodies, sentences = collect_secrets()
    for path, content in files.items():
        text = content.decode("utf-8", "replace")
        shown = {*function_bodies(text)} if path.endswith(".py") else set()
        found += [f"{path} contains a function from {place}" for body, place in bodies.items() if body in shown]
        line = collapse_whitespace(text)
        found += [f"{path} contains a sentence from {place}: {one}" for one, place in sentences.items() if one in line]
    return found


@cached_by_course
def collect_secrets() -> tuple[dict[str, str], dict[str, str]]:
    """Map each private function body, and each private sentence, to the file that contains it."""
    paths = [path for path in course().reference.rglob("*") if course().is_private(path)]
    paths.sort(key=lambda path: (path.name != "solution.py", path))
    texts = [
        (path.relative_to(course().root).as_posix(), text)
        for path in paths
        if path.suffix in (".py", ".toml")
        for text in read_texts(path)
    ][::-1]  # the solution comes last, so that a text that is also in other files is attributed to it
    public = [path.read_text("utf-8") for pattern in PUBLIC for path in sorted(course().root.glob(pattern))]
    public_text = collapse_whitespace("".join(public))
    public_bodies = {body for text in public for body in function_bodies(text)}
    bodies = {body: place for place, text in texts for body in function_bodies(text) if body not in public_bodies}
    sentences = {one: place for place, text in texts for one in split_sentences(text) if one not in public_text}
    return bodies, sentences


def read_texts(path: Path) -> Iterator[str]:
    """Yield the source of a module, or the code and sentences in a TOML file."""
    if path.suffix == ".py":
        yield path.read_text("utf-8")
    else:
        yield from select_texts(read_toml(path))


def select_texts(table: dict[str, Any]) -> Iterator[str]:
    """Yield the code and sentences in a table and its subtables."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from select_texts(value)
        elif key in (*CODE, *WORDS):
            yield str(value)


def parse(text: str) -> ast.Module | None:
    """Return the syntax tree, or None if the text is not valid Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def function_bodies(text: str) -> Iterator[str]:
    """Yield the code of each function body without its docstring, comments and formatting. Short bodies are skipped."""
    tree = parse(text)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
            body = "\n".join(map(ast.unparse, statements))
            if len(body) >= LEAST:
                yield body


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences in docstrings and comments, or in a text that is not Python. Short sentences are skipped."""
    tree = parse(text)
    if tree is None:
        parts = [text]
    else:
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        parts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]
        parts += re.findall(r"#\s*(.+)", text)
    for part in parts:
        yield from (
            collapse_whitespace(one) for one in SENTENCE_ENDS.split(part) if len(collapse_whitespace(one)) >= LEAST
        )


def collapse_whitespace(text: str) -> str:
    """Return the text with each sequence of whitespace replaced by a single space."""
    return " ".join(text.split())
