"""Which files of ours a file needs, found by following its imports, in the engine and in the course."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from torchkata.course import ENGINE, course


def with_imports(paths: Iterable[Path]) -> set[Path]:
    """These files, those of ours that they import, and so on; what is not there is left out."""
    found: set[Path] = set()
    waiting = [path for path in paths if path.is_file()]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported(path)
    return found


@cache
def imported(path: Path) -> tuple[Path, ...]:
    """The files of ours that a file imports, with the packages that they are in; none for what is no Python."""
    if path.suffix != ".py":
        return ()
    names = [name for node in ast.walk(ast.parse(path.read_bytes(), str(path))) for name in modules(node, path)]
    parts = {tuple(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 2)}
    places = [root.joinpath(*part) for part in parts for root in {ENGINE, course().root}]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return tuple(file for file in files if file.is_file())


def module_path(path: Path) -> Path:
    """Return a file's path below the folder that it is imported from."""
    roots = [root for root in (ENGINE, course().root) if path.is_relative_to(root)]
    return path.relative_to(max(roots, key=lambda root: len(root.parts)))


def modules(node: ast.AST, path: Path) -> Iterator[str]:
    """What an import may name: modules, and things in modules, which are no files."""
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module, names, level):
            package = module_path(path).parent.parts
            inside = ".".join([*package[: len(package) + 1 - level], *filter(None, [module])]) if level else module
            yield from (f"{inside}.{alias.name}" for alias in names)
