"""pytest plugin that recognizes an untouched stub by its source, so that its tests need no inputs and no call.

A file counts as untouched only if calling any of its functions would raise NotImplementedError. In all other cases, the
tests run, and the answer of the code decides.
"""

import ast
from pathlib import Path

import pytest

from torchkata.inside.reply import parse
from torchkata.inside.source.names import computes_nothing
from torchkata.seam.failures import NotStarted, Place
from torchkata.seam.student import InProcess

from .run_state import get_state
from .selection import find_kata


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Raise NotStarted if the kata's file is untouched."""
    kata, state = find_kata(pyfuncitem.path), get_state(pyfuncitem.config)
    if kata is None or not isinstance(state.student.runner, InProcess):
        return
    if kata not in state.places:
        state.places[kata] = find_place(state.student.runner.assignment.__files__.folder / f"{kata}.py")
    if place := state.places[kata]:
        raise NotStarted(place)


def find_place(file: Path) -> Place | None:
    """Return the first line that raises NotImplementedError if a file is untouched, otherwise None."""
    try:
        source = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    line = find_line(parse(source))
    return Place(file.name, line, source.splitlines()[line - 1]) if line else None


def find_line(tree: ast.Module) -> int:
    """Return the first line of an untouched file that raises NotImplementedError, or 0 if it is not untouched."""
    body = [*tree.body]
    while body and (isinstance(body[0], (ast.Import, ast.ImportFrom)) or is_text(body[0])):
        del body[0]
    lines = [line for node in body for line in find_lines(node)]
    return lines[0] if all(lines) and lines else 0


def find_lines(node: ast.stmt) -> list[int]:
    """Return the line of each function's `raise`. A zero stands for anything that might compute something."""
    if isinstance(node, ast.ClassDef) and not node.decorator_list:
        return [line for inner in node.body if not is_text(inner) for line in find_lines(inner)]
    if isinstance(node, ast.FunctionDef) and not node.decorator_list and all(map(computes_nothing, node.body)):
        raised = (inner for inner in node.body if isinstance(inner, ast.Raise) and inner.exc)
        return [next((inner.lineno for inner in raised if "NotImplementedError" in ast.dump(inner)), 0)]
    return [0]


def is_text(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
