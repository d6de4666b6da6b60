"""What a stub and its solution must have in common: public names, signatures, and that each says what it is.

A solution may have helpers of its own.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

TO_DO = "raise NotImplementedError"
GIVEN = "This much is given."  # in the docstring of a class that a stub has whole
KINDS = ("property", "staticmethod", "classmethod", "dataclass")


@dataclass(frozen=True)
class Public:
    """A public class or function."""

    signature: str
    has_docstring: bool


def interface(source: str) -> dict[str, Public]:
    """The public classes, functions and methods of a module, `__init__` among them, by their full name."""
    return dict(publics(ast.parse(source), ""))


def publics(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, Public]]:
    """Those of a module or class."""
    for item in node.body:
        if not isinstance(item, (ast.ClassDef, ast.FunctionDef)) or is_private(item.name):
            continue
        kinds = [f"@{name} " for decorator in item.decorator_list if (name := ast.unparse(decorator)) in KINDS]
        if isinstance(item, ast.ClassDef):
            signature = f"class ({', '.join(map(ast.unparse, item.bases))})"
            yield from publics(item, f"{prefix}{item.name}.")
        else:
            returns = ast.unparse(item.returns) if item.returns else "nothing said"
            signature = f"({ast.unparse(item.args)}) -> {returns}"
        said = item.name.startswith("__") or ast.get_docstring(item) is not None
        yield f"{prefix}{item.name}", Public("".join(kinds) + signature, said)


def is_private(name: str) -> bool:
    """Whether a name is nobody else's business."""
    return name.startswith("_") and not name.endswith("__")


def differences(stub: str, solution: str) -> list[str]:
    """What does not fit between a stub and its solution, a line each."""
    asked, given = interface(stub), interface(solution)
    found = [f"{name} is in the stub, not in the solution" for name in asked.keys() - given.keys()]
    for name in asked.keys() & given.keys():
        if asked[name].signature != given[name].signature:
            found.append(f"{name}: the stub has {asked[name].signature}, the solution {given[name].signature}")
        found += [
            f"{name} has no docstring in the {where}"
            for where, public in (("stub", asked[name]), ("solution", given[name]))
            if not public.has_docstring
        ]
    return sorted(found)


def written_already(stub: str) -> list[str]:
    """The functions of a stub that do not end with `raise NotImplementedError`, but for a class that is given."""
    return [one.name for one in asked_for(ast.parse(stub)) if not ast.unparse(one.body[-1]).startswith(TO_DO)]


def asked_for(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The functions and methods that a student is to write."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef) and GIVEN not in (ast.get_docstring(node) or ""):
            yield from asked_for(node)
