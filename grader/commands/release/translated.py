"""Stubs with docstrings in two languages: the translation follows the English text."""

import ast
from collections.abc import Iterator, Mapping

Documented = ast.Module | ast.ClassDef | ast.FunctionDef


def add_translation(stub: str, itself: str, tasks: Mapping[str, str]) -> str:
    """Add translations to the docstrings of a stub, by full name; `itself` is the key of the module docstring."""
    lines = stub.splitlines()
    for name, node in reversed([(itself, ast.parse(stub)), *documented(ast.parse(stub), "")]):
        if (task := tasks.get(name)) and ast.get_docstring(node) is not None:
            written = node.body[0]
            indent, end = " " * written.col_offset, (written.end_lineno or 0) - 1
            last = lines[end].removesuffix('"""').rstrip()
            added = [f"{indent}{line}" if line else "" for line in task.strip().splitlines()]
            lines[end : end + 1] = [*([last] if last else []), "", *added, f'{indent}"""']
    return "\n".join(lines) + "\n"


def documented(node: Documented, prefix: str) -> Iterator[tuple[str, Documented]]:
    """Yield the classes, functions and methods of a module or class with their full names."""
    for one in node.body:
        if isinstance(one, (ast.ClassDef, ast.FunctionDef)):
            yield f"{prefix}{one.name}", one
            yield from documented(one, f"{prefix}{one.name}.")
