"""Comparison of a stub with its solution: public names, signatures and docstrings. A solution may have more helpers."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

TO_DO = "raise NotImplementedError"
GIVEN = "This much is given."  # marks a class in a stub that students do not write
KINDS = ("property", "staticmethod", "classmethod", "dataclass")


@dataclass(frozen=True)
class Public:
    """A public class or function."""

    signature: str
    has_docstring: bool


def list_public(node: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, Public]]:
    """Yield the public classes, functions and methods (with `__init__`) by their full names."""
    for item in node.body:
        if not isinstance(item, (ast.ClassDef, ast.FunctionDef)) or re.match(r"_(?!.*__$)", item.name):
            continue
        kinds = [f"@{name} " for decorator in item.decorator_list if (name := ast.unparse(decorator)) in KINDS]
        if isinstance(item, ast.ClassDef):
            signature = f"class ({', '.join(map(ast.unparse, item.bases))})"
            yield from list_public(item, f"{prefix}{item.name}.")
        else:
            returns = ast.unparse(item.returns) if item.returns else "nothing said"
            signature = f"({ast.unparse(item.args)}) -> {returns}"
        documented = item.name.startswith("__") or ast.get_docstring(item) is not None
        yield f"{prefix}{item.name}", Public("".join(kinds) + signature, documented)


def find_differences(stub: str, solution: str) -> list[str]:
    """Return a line for each difference between the interfaces of a stub and its solution."""
    old, new = (dict(list_public(ast.parse(source))) for source in (stub, solution))
    found = [f"{name} is in the stub, but not in the solution" for name in old.keys() - new.keys()]
    for name in old.keys() & new.keys():
        if old[name].signature != new[name].signature:
            found.append(f"{name}: the stub has {old[name].signature}, the solution {new[name].signature}")
        for where, public in (("stub", old[name]), ("solution", new[name])):
            if not public.has_docstring:
                found.append(f"{name} has no docstring in the {where}")
    return sorted(found)


def find_written(stub: str) -> list[str]:
    """Return the functions of a stub that do not end with `raise NotImplementedError`, except in given classes."""
    return [node.name for node in find_tasks(ast.parse(stub)) if not ast.unparse(node.body[-1]).startswith(TO_DO)]


def find_tasks(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yield the functions and methods that a student writes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef) and GIVEN not in (ast.get_docstring(node) or ""):
            yield from find_tasks(node)
