"""A stub that says in another language, too, what it asks for: in each docstring, below the English."""

import ast
from collections.abc import Iterator, Mapping

Documented = ast.Module | ast.ClassDef | ast.FunctionDef


def in_two_languages(stub: str, itself: str, tasks: Mapping[str, str]) -> str:
    """The stub with these tasks in it, each by the full name that it is about; `itself` is the stub's own name."""
    lines = stub.splitlines()
    for name, node in reversed([(itself, ast.parse(stub)), *documented(ast.parse(stub), "")]):
        if (task := tasks.get(name)) and ast.get_docstring(node) is not None:
            written = node.body[0]
            indent, end = " " * written.col_offset, (written.end_lineno or 0) - 1
            last = lines[end].removesuffix('"""').rstrip()
            told = [f"{indent}{line}" if line else "" for line in task.strip().splitlines()]
            lines[end : end + 1] = [*([last] if last else []), "", *told, f'{indent}"""']
    return "\n".join(lines) + "\n"


def documented(node: Documented, prefix: str) -> Iterator[tuple[str, Documented]]:
    """The classes, functions and methods of a module or class in their order, by full names."""
    for one in node.body:
        if isinstance(one, (ast.ClassDef, ast.FunctionDef)):
            yield f"{prefix}{one.name}", one
            yield from documented(one, f"{prefix}{one.name}.")
