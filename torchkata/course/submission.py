"""The files of a submission, which are the modules in `assignment/`. `kata export` and the grader share these rules."""

import ast
import io
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from torchkata.inside.source.differences import name_imports

MAX_FILES = 64
MAX_BYTES = 2**20  # maximum size of a file, larger than any hand-written module
IGNORED = ("conftest.py", "__init__.py")


def is_module(name: str) -> bool:
    """Return whether a file with this name is a module that is part of a submission."""
    return name.endswith(".py") and name.removesuffix(".py").isidentifier() and name not in IGNORED


def parse(source: bytes) -> ast.Module:
    """Parse a module without issuing SyntaxWarnings. Raises SyntaxError, or ValueError if the module is binary data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def read_imports(file: Path) -> set[str]:
    """Return the modules in the same folder that a file imports, or an empty set if the file can't be parsed."""
    try:
        statements = [node for node in ast.walk(parse(file.read_bytes())) if isinstance(node, ast.stmt)]
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {name[1:] for statement in statements for name in name_imports(statement) if name.startswith(".")}


def zip_files(files: Mapping[str, bytes], mode: Callable[[bytes], int] = lambda _: 0o644) -> bytes:
    """Return a reproducible zip archive of these files. `mode` returns the permissions of a file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode(content)) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()
