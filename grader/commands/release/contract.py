"""Compares the interfaces and docstrings of stubs with those of the solution, and translates docstrings."""

import ast
import re
from collections.abc import Iterator, Mapping

TO_DO = "raise NotImplementedError"
GIVEN = "This class is provided."  # marks a class in a stub that students do not have to write
KINDS = ("property", "staticmethod", "classmethod", "dataclass")


def list_public(node: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, tuple[str, bool]]]:
    """Yield the public classes, functions and methods (including `__init__`) with their full names.

    Each name is paired with the signature, and with whether there is a docstring.
    """
    for item in node.body:
        if not isinstance(item, (ast.ClassDef, ast.FunctionDef)) or re.match(r"_(?!.*__$)", item.name):
            continue
        kinds = [f"@{name} " for decorator in item.decorator_list if (name := ast.unparse(decorator)) in KINDS]
        if isinstance(item, ast.ClassDef):
            signature = f"class ({', '.join(map(ast.unparse, item.bases))})"
            yield from list_public(item, f"{prefix}{item.name}.")
        else:
            returns = ast.unparse(item.returns) if item.returns else "(no annotation)"
            signature = f"({ast.unparse(item.args)}) -> {returns}"
        documented = item.name.startswith("__") or ast.get_docstring(item) is not None
        yield f"{prefix}{item.name}", ("".join(kinds) + signature, documented)


def find_differences(stub: str, solution: str) -> list[str]:
    """Return a line for each difference between the interface of a stub and that of its solution."""
    old, new = (dict(list_public(ast.parse(source))) for source in (stub, solution))
    found = [f"{name} is in the stub, but not in the solution" for name in old.keys() - new.keys()]
    for name in old.keys() & new.keys():
        (before, in_stub), (after, in_solution) = old[name], new[name]
        if before != after:
            found.append(f"{name}: the stub has {before}, the solution {after}")
        for where, has_docstring in (("stub", in_stub), ("solution", in_solution)):
            if not has_docstring:
                found.append(f"{name} has no docstring in the {where}")
    return sorted(found)


def find_written(stub: str) -> list[str]:
    """Return the functions in a stub that do not end with `raise NotImplementedError`, except in provided classes."""
    return [node.name for node in find_tasks(ast.parse(stub)) if not ast.unparse(node.body[-1]).startswith(TO_DO)]


def find_tasks(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yield the functions and methods that students have to write."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef) and GIVEN not in (ast.get_docstring(node) or ""):
            yield from find_tasks(node)


def translate_docstrings(stub: str, itself: str, tasks: Mapping[str, str]) -> str:
    """Replace the docstrings of a stub with translations.

    `tasks` maps full names of functions and classes to translations. The key for the module is `itself`.
    """
    lines = stub.splitlines()
    for name, node in reversed([(itself, ast.parse(stub)), *documented(ast.parse(stub), "")]):
        if (task := tasks.get(name, "").strip()) and ast.get_docstring(node) is not None:
            first, quotes = node.body[0], 'r"""' if "\\" in task else '"""'
            end = '\n"""' if "\n" in task or task.endswith('"') else '"""'
            written = f"{quotes}{task}{end}".split("\n")
            indent = " " * first.col_offset
            lines[first.lineno - 1 : first.end_lineno] = [f"{indent}{one}" if one else "" for one in written]
    return "\n".join(lines) + "\n"


def documented(
    node: ast.Module | ast.ClassDef | ast.FunctionDef, prefix: str
) -> Iterator[tuple[str, ast.Module | ast.ClassDef | ast.FunctionDef]]:
    """Yield the classes, functions and methods of a module or class with their full names."""
    for one in node.body:
        if isinstance(one, (ast.ClassDef, ast.FunctionDef)):
            yield f"{prefix}{one.name}", one
            yield from documented(one, f"{prefix}{one.name}.")
