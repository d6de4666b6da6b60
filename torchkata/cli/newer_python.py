"""Finds code that needs a newer Python than the grader may have: syntax, and functions of the standard library."""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from torchkata.course import course
from torchkata.i18n import _
from torchkata.inside.source.differences import walk_unguarded
from torchkata.inside.source.names import Names
from torchkata.inside.source.text import VERSION, decode

SYNTAX = {"TypeAlias": 12, "TypeVar": 12, "ParamSpec": 12, "TypeVarTuple": 12, "TemplateStr": 14}  # kinds of nodes
LIBRARY = {  # names of the standard library that a course may invite, and the minor version that added them
    **dict.fromkeys(("itertools.batched", "math.sumprod", "random.binomialvariate", "collections.abc.Buffer"), 12),
    **dict.fromkeys(("typing.override", "typing.TypeAliasType", "types.get_original_bases"), 12),
    **dict.fromkeys(("math.fma", "copy.replace", "warnings.deprecated", "statistics.kde", "queue.ShutDown"), 13),
    **dict.fromkeys(("typing.ReadOnly", "typing.TypeIs", "typing.NoDefault", "typing.get_protocol_members"), 13),
    **dict.fromkeys(("annotationlib.get_annotations", "functools.Placeholder", "operator.is_none", "io.Reader"), 14),
}


@dataclass(frozen=True)
class Newer:
    """Code that needs Python 3.`minor`. `name` is a function of the standard library, or "" for syntax."""

    line: int
    minor: int
    name: str = ""


def describe_newer_python() -> str:
    """Return a sentence if this Python is newer than the one with which the instructor wrote the handout, or ""."""
    if not course().grader_python or sys.version_info.minor <= find_minor():
        return ""
    versions = {"grader": course().grader_python, "yours": VERSION}
    return _(
        "Your Python is {yours}, and the grader may have {grader}, where newer syntax and newer functions of Python's "
        "library fail.",
        **versions,
    )


def find_newer(source: bytes, tree: ast.Module) -> list[Newer]:
    """Return the code that needs a newer Python than the grader may have, with the first line of each name."""
    if not course().grader_python:
        return []
    found = sorted([*find_newer_syntax(source, tree), *find_newer_names(tree)], key=lambda newer: newer.line)
    first = {(newer.minor, newer.name): newer for newer in reversed(found) if newer.minor > find_minor()}
    return sorted(first.values(), key=lambda newer: newer.line)


def find_minor() -> int:
    """Return the minor version of the Python that the grader may have."""
    return int(course().grader_python.partition(".")[2])


def find_newer_syntax(source: bytes, tree: ast.Module) -> Iterator[Newer]:
    """Yield syntax that is newer than Python 3.11, as far as this Python can parse it."""
    lines = source.splitlines()
    for node in ast.walk(tree):
        if minor := SYNTAX.get(type(node).__name__):
            yield Newer(getattr(node, "lineno", 1), 13 if getattr(node, "default_value", None) else minor)
        match node:
            case ast.ExceptHandler(type=ast.Tuple(lineno=line, col_offset=column)):
                if not lines[line - 1][column:].startswith(b"("):
                    yield Newer(line, 14)
    yield from find_newer_strings(source)


def find_newer_strings(source: bytes) -> Iterator[Newer]:
    """Yield f-strings whose expressions contain what ended the string, or was refused, before Python 3.12."""
    outer: list[str] = []  # the quotes of the f-strings around a token
    for token in tokenize.generate_tokens(io.StringIO(decode(source)).readline):
        kind, text = tokenize.tok_name[token.type], token.string
        if kind == "FSTRING_END":
            outer.pop()
        elif outer and (kind != "FSTRING_MIDDLE" or len(outer) > 1):  # in an expression
            refused = (*outer, "\\", *("\n" for quotes in outer if len(quotes) == 1))
            if kind == "COMMENT" or any(part in text for part in refused):
                yield Newer(token.start[0], 12)
        if kind == "FSTRING_START":
            outer.append(text.lstrip("fFrR"))


def find_newer_names(tree: ast.Module) -> Iterator[Newer]:
    """Yield unguarded uses of names that a newer Python has added to its standard library."""
    names = Names(tree)
    for node, _in_function in walk_unguarded(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                used = [f"{module}.{alias.name}" for alias in aliases]
            case ast.Attribute():
                used = [names.full_name(node) or ""]
            case _:
                continue
        yield from (Newer(node.lineno, LIBRARY[name], name) for name in used if name in LIBRARY)
