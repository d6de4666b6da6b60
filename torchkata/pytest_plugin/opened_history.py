"""The files that the student's modules have opened in test runs, stored in `.kata/opened.json`."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from torchkata.course import course
from torchkata.files import write_atomically

from .history import hash_content

FILE = ".kata/opened.json"


def store(opened: Mapping[str, Mapping[str, int]]) -> None:
    """Add opened files, keyed by module and path, each with the line that opened it. Raises OSError if that fails.

    A path that ends with a separator is a folder in which a file was written.
    """
    stored = load()
    for name, found in opened.items():
        with suppress(OSError):  # the module may be gone
            source = (course().assignment / name).read_bytes()
            stored[name] = {"digest": hash_content(source), "opened": {**find_opened(name, source), **found}}
    if opened:
        path = course().root / FILE
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, json.dumps(stored, indent=1).encode())


def load() -> dict[str, Any]:
    """Return what is stored about the modules."""
    with suppress(OSError, ValueError, RecursionError):
        stored = json.loads((course().root / FILE).read_text("utf-8"))
        return stored if isinstance(stored, dict) else {}
    return {}


def find_opened(name: str, source: bytes) -> dict[str, int]:
    """Return the stored files that a module has opened and that still exist, if the module has not changed since."""
    match load().get(name):
        case {"digest": digest, "opened": dict(opened)} if digest == hash_content(source):
            return {
                path: line for path, line in opened.items() if type(line) is int and (course().root / path).exists()
            }
    return {}
