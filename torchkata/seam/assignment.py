"""A student's files as a package that is imported one kata at a time."""

import importlib
import sys
from contextlib import nullcontext, suppress
from itertools import takewhile
from pathlib import Path
from types import ModuleType

MARK = 4  # bytes that tell UTF-16 and UTF-32 from text that begins with ASCII


class Assignment:
    """`assignment.linear` is the module `linear.py` in `folder`, imported when it is first asked for.

    The package is made here and its `__init__.py` is never run, so that a mistake in one file costs that file only.
    """

    def __init__(self, folder: Path, package: str = "assignment") -> None:
        self.folder = folder
        self.package = package
        self.reset()

    def reset(self) -> None:
        """Forget every module, so that the next use imports the files as they are now."""
        if self.package in sys.modules:  # what it has imported comes after it, what all others have, mostly before
            for name in [*takewhile(lambda name: name != self.package, reversed(sys.modules)), self.package]:
                if name == self.package or name.startswith(f"{self.package}."):
                    del sys.modules[name]
        sys.path_importer_cache.pop(str(self.folder), None)
        package = ModuleType(self.package, "A student's katas.")
        package.__path__ = [str(self.folder)]
        sys.modules[self.package] = package

    def forget(self, kata: str) -> None:
        """Import this one module anew when it is next asked for."""
        sys.modules.pop(f"{self.package}.{kata}", None)

    def __getattr__(self, kata: str) -> ModuleType:
        name = f"{self.package}.{kata}"
        if name in sys.modules:
            return sys.modules[name]
        check_encoding(self.folder / f"{kata}.py")
        writes_bytecode = sys.dont_write_bytecode
        sys.dont_write_bytecode = True  # a cached file is trusted by its time in seconds: too coarse for quick edits
        try:
            torch = sys.modules.get("torch")
            with torch.random.fork_rng(devices=[]) if torch else nullcontext():  # the first call draws as every later
                return importlib.import_module(name)
        finally:
            sys.dont_write_bytecode = writes_bytecode


def check_encoding(file: Path) -> None:
    """Raise SyntaxError, in words that help, for a file in UTF-16: Python speaks of null bytes."""
    with suppress(OSError), file.open("rb") as opened:
        if b"\0" in opened.read(MARK):
            raise SyntaxError("the file is not UTF-8 text (perhaps UTF-16): save it as UTF-8", (str(file), 0, 0, ""))
