"""What a hand-in consists of: the modules in `assignment/`. The grader reads submissions by the same rules."""

import ast
import io
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

MAX_FILES = 64
MAX_BYTES = 2**20  # of one file: more no hand has typed
NOT_TAKEN = ("conftest.py", "__init__.py")


def is_module(name: str) -> bool:
    """Whether a file of this name can be imported beside the katas, and is taken along."""
    return name.endswith(".py") and name.removesuffix(".py").isidentifier() and name not in NOT_TAKEN


def parsed(source: bytes) -> ast.Module:
    """A module's syntax, without remarks on its style. Raises SyntaxError; ValueError for what is no text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def imported_beside(tree: ast.Module) -> set[str]:
    """The modules that `from .name import …` and `from . import name` take from the same folder."""
    beside = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1]
    named = {node.module.partition(".")[0] for node in beside if node.module}
    return named | {alias.name for node in beside if not node.module for alias in node.names}


def imported_by_name(tree: ast.Module) -> set[str]:
    """The modules that `import name` and `from name import …` look for on Python's path."""
    named = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 0]
    named += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {name.partition(".")[0] for name in named if name}


def imports_of(file: Path) -> set[str]:
    """The modules beside a file that it imports; none for a file that can't be read."""
    try:
        return imported_beside(parsed(file.read_bytes()))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()


def zip_files(files: Mapping[str, bytes], mode: Callable[[bytes], int] = lambda _: 0o644) -> bytes:
    """Return a zip of these files, the same bytes for the same files. `mode` gives a file's permissions."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode(content)) << 16
            archive.writestr(entry, content)
    return made.getvalue()
