"""A package that contains the student's files and imports them one kata at a time."""

import importlib
import sys
from contextlib import nullcontext, suppress
from itertools import takewhile
from pathlib import Path
from types import ModuleType

MARK = 4  # bytes; enough to distinguish UTF-16 and UTF-32 from UTF-8 text that starts with ASCII


class Assignment:
    """The student's modules: `assignment.linear` imports `linear.py` from `folder` on first use.

    The folder's `__init__.py` is never run, so a mistake in one file affects only that file.
    """

    def __init__(self, folder: Path, package: str = "assignment") -> None:
        self.folder = folder
        self.package = package
        self.reset()

    def reset(self) -> None:
        """Discard all modules, so that they are imported again on next use."""
        if self.package in sys.modules:  # the package's modules come after it, so most of `sys.modules` is not visited
            for name in [*takewhile(lambda name: name != self.package, reversed(sys.modules)), self.package]:
                if name == self.package or name.startswith(f"{self.package}."):
                    del sys.modules[name]
        sys.path_importer_cache.pop(str(self.folder), None)
        package = ModuleType(self.package, "A student's katas.")
        package.__path__ = [str(self.folder)]
        sys.modules[self.package] = package

    def forget(self, kata: str) -> None:
        """Discard one module, so that it is imported again on next use."""
        sys.modules.pop(f"{self.package}.{kata}", None)

    def __getattr__(self, kata: str) -> ModuleType:
        name = f"{self.package}.{kata}"
        if name in sys.modules:
            return sys.modules[name]
        check_encoding(self.folder / f"{kata}.py")
        writes_bytecode = sys.dont_write_bytecode
        sys.dont_write_bytecode = True  # a .pyc stores its timestamp in whole seconds, which would miss quick edits
        try:
            torch = sys.modules.get("torch")
            with torch.random.fork_rng(devices=[]) if torch else nullcontext():  # importing must not advance the RNG
                return importlib.import_module(name)
        finally:
            sys.dont_write_bytecode = writes_bytecode


def check_encoding(file: Path) -> None:
    """Raise a SyntaxError for a UTF-16 file, because Python's own message only mentions null bytes."""
    with suppress(OSError), file.open("rb") as opened:
        if b"\0" in opened.read(MARK):
            raise SyntaxError("the file is not UTF-8 text (perhaps UTF-16): save it as UTF-8", (str(file), 0, 0, ""))
