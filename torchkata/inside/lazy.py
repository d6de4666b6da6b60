"""Imports the public names of a package when they are first used.

A package lists its public names once: as imports below `if TYPE_CHECKING:` in its `__init__.py`, which type checkers
follow, and which this module reads while the program runs.
"""

import ast
import sys
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import Any


def import_name(package: str, name: str) -> Any:
    """Import a public name from the module that defines it. The name `__all__` stands for the list of all names."""
    modules = read_names(package)
    if name == "__all__":
        return sorted(modules)
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    is_module = modules[name] == package
    value = import_module(f"{package}.{name}") if is_module else getattr(import_module(modules[name]), name)
    setattr(sys.modules[package], name, value)
    return value


@cache
def read_names(package: str) -> dict[str, str]:
    """Return the module from which each public name of a package is imported. Other projects' names are ignored."""
    source = Path(sys.modules[package].__file__ or "").read_text("utf-8")
    nodes = ast.parse(source).body
    (block,) = (node for node in nodes if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    found: dict[str, str] = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            if module.partition(".")[0] == package.partition(".")[0]:
                found |= {alias.name: module for alias in node.names}
    return found
