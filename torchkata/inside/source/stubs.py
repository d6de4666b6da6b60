"""Recognizes an untouched stub: calling any of its functions would raise NotImplementedError."""

import ast

from .names import computes_nothing


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
