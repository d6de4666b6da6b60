"""Finds the files of the engine and the course that a file imports, directly or indirectly."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from torchkata.course import ENGINE, course

PACKAGES = ("torchkata", "grader")  # of the engine, which may be installed next to any number of other packages


def follow_imports(paths: Iterable[Path]) -> set[Path]:
    """Return the given files that exist, and all engine and course files that they import, directly or indirectly."""
    found: set[Path] = set()
    pending = [path for path in paths if path.is_file()]
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending += find_imports(path)
    return found


@cache
def find_imports(path: Path) -> tuple[Path, ...]:
    """Return the engine and course files that a file imports, including `__init__.py` files.

    A file that is not Python imports nothing.
    """
    if path.suffix != ".py":
        return ()
    names = [name for node in ast.walk(ast.parse(path.read_bytes(), str(path))) for name in list_names(node, path)]
    parts = {tuple(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 2)}
    engine = [part for part in parts if part[0] in PACKAGES]
    places = {root.joinpath(*part) for root, named in ((ENGINE, engine), (course().root, parts)) for part in named}
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return tuple(file for file in files if file.is_file())


def module_path(path: Path) -> Path:
    """Return the path of a file relative to its import root."""
    roots = [root for root in (ENGINE, course().root) if path.is_relative_to(root)]
    return path.relative_to(max(roots, key=lambda root: len(root.parts)))


def list_names(node: ast.AST, path: Path) -> Iterator[str]:
    """Yield the dotted names in an import. Each one may refer to a module or to a name in a module."""
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module, names, level):
            package = module_path(path).parent.parts
            inside = ".".join([*package[: len(package) + 1 - level], *filter(None, [module])]) if level else module
            yield from (f"{inside}.{alias.name}" for alias in names)
