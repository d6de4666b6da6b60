"""A package that contains the student's files and imports them one kata at a time."""

import importlib
import sys
from contextlib import nullcontext, suppress
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from torchkata.inside.source.text import find_fault


class Assignment:
    """What a probe gets: `assignment.linear` is the student's module `linear`, whatever a kata is called."""

    def __init__(self, folder: Path, package: str = "assignment") -> None:
        self.__files__ = StudentFiles(folder, package)

    def __getattribute__(self, kata: str) -> Any:
        own = kata.startswith("__")
        return super().__getattribute__(kata) if own else self.__files__.import_kata(kata)

    def __delattr__(self, kata: str) -> None:
        """Discard one module, so that it is imported again on next use."""
        sys.modules.pop(f"{self.__files__.package}.{kata}", None)


class SourceLoader(SourceFileLoader):
    """Imports a module from its source, without `__pycache__`: Python compares times only to the second."""

    def path_stats(self, path: str) -> NoReturn:
        """Raise OSError, so that Python neither reads nor writes bytecode."""
        raise OSError(path)


class StudentFiles:
    """The student's files. A file is imported when it is first used.

    The folder's `__init__.py` is never run, so a mistake in one file affects only that file.
    """

    def __init__(self, folder: Path, package: str) -> None:
        self.folder = folder
        self.package = package
        self.reset()

    def reset(self) -> None:
        """Discard all modules, so that they are imported again on next use."""
        if self.package in sys.modules:  # the package's modules come after it, so most of `sys.modules` is not visited
            for name in [*takewhile(lambda name: name != self.package, reversed(sys.modules)), self.package]:
                if name == self.package or name.startswith(f"{self.package}."):
                    del sys.modules[name]
        self.setting = ""
        self.recursion_limit = 0  # set by student code; 0 if it has not set any
        sys.path_importer_cache[str(self.folder)] = FileFinder(str(self.folder), (SourceLoader, SOURCE_SUFFIXES))
        package = ModuleType(self.package, "A student's katas.")
        package.__path__ = [str(self.folder)]
        sys.modules[self.package] = package

    def import_kata(self, kata: str) -> ModuleType:
        """Return the module of a kata."""
        name = f"{self.package}.{kata}"
        if name in sys.modules:
            return sys.modules[name]
        check_text(self.folder / f"{kata}.py")
        before = read_settings()
        try:
            torch = sys.modules.get("torch")
            with torch.random.fork_rng(devices=[]) if torch else nullcontext():  # importing must not advance the RNG
                return importlib.import_module(name)
        except SyntaxError as error:
            if not error.filename:  # a file that this one imports is not source code
                for file in sorted(self.folder.glob("*.py")):
                    check_text(file)
            raise
        finally:
            changed = (name for name, value in read_settings().items() if before and value != before[name])
            self.setting = self.setting or next(changed, "")


def read_settings() -> dict[str, object]:
    """Return torch's settings for all code, keyed by the function that changes them. Empty if torch is not imported."""
    with suppress(Exception):  # including anything that student code has done to torch
        torch: Any = sys.modules["torch"]
        new = torch.empty(0)
        return {
            "torch.set_default_dtype": new.dtype,
            "torch.set_default_device": new.device,
            "torch.set_grad_enabled": torch.is_grad_enabled(),
        }
    return {}


def check_text(file: Path) -> None:
    """Raise a SyntaxError with the file's name if the file is not Python source."""
    with suppress(OSError):
        if fault := find_fault(file.read_bytes()):
            line, reason = fault
            raise SyntaxError(reason, (str(file), line, 0, ""))  # type: ignore[arg-type]  # a Text
