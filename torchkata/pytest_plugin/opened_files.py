"""pytest plugin that records which files and folders the student's code uses. The grader has only the zip file's."""

import os
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from torchkata.course import course

from .opened_history import store

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Recorder:
    """Records the files that a student's module, or a library that it calls, reads, and the folders in which it writes.

    Modules, what the code has made itself, and files of packages, of the system and in hidden folders are left out.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.root = str(folder), f"{root}{os.sep}"
        home = os.path.expanduser("~")  # noqa: PTH111  (Path fails if there is none)
        self.places = (self.root, f"{home}{os.sep}")
        self.written = {str(root), str(folder)}  # files and folders that the code has made, and those of the course
        self.opened: dict[str, dict[str, int]] = {}  # keyed by module and path: the line that read the file first

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """Handle an audit event of Python."""
        try:
            if event == "open" and not isinstance(args[0], int):
                self.add(args[0], writes=bool(args[2] & WRITES))
            elif event == "os.rename":
                self.add(args[1], writes=True)
            elif event == "os.mkdir":
                self.written.add(os.path.abspath(os.fsdecode(args[0])))  # noqa: PTH100
        except Exception:  # it would become one of the student's code
            pass

    def add(self, given: str | bytes, *, writes: bool) -> None:
        """Record that a file is opened, if the student's code has caused it."""
        path = os.path.abspath(os.fsdecode(given))  # noqa: PTH100  (a link remains a link)
        frame: FrameType | None = sys._getframe()
        while frame is not None and os.path.dirname(frame.f_code.co_filename) != self.folder:  # noqa: PTH120  (faster)
            frame = frame.f_back
        if frame is None or path in self.written:
            return
        if writes:
            self.written.add(path)
            path = os.path.join(os.path.dirname(path), "")  # noqa: PTH118, PTH120  (ends with a separator)
            is_own = path.startswith(self.root) and path[:-1] not in self.written
        else:
            is_own = self.is_own(path)
        if is_own and Path(path).exists():
            found = self.opened.setdefault(Path(frame.f_code.co_filename).name, {})
            found.setdefault(path.removeprefix(self.root), frame.f_lineno)

    def is_own(self, path: str) -> bool:
        """Return whether the student may have put this file here, and it is not a module."""
        place = next((place for place in self.places if path.startswith(place)), None)
        if place is None or f"{os.sep}." in path.removeprefix(place[:-1]) or path.endswith((".py", ".pyc")):
            return False
        return Path(path).is_file() and not path.startswith((sys.prefix + os.sep, sys.base_prefix + os.sep))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add what is recorded to a report, which another process may receive."""
        report = yield
        report.kata_opened = self.opened  # type: ignore[attr-defined]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what another process has recorded."""
        for name, found in getattr(report, "kata_opened", {}).items():
            self.opened.setdefault(name, {}).update(found)

    def pytest_terminal_summary(self) -> None:
        """Store the opened files for `kata check` and `kata export`."""
        with suppress(OSError):
            store(self.opened)


def pytest_configure(config: pytest.Config) -> None:
    """Listen to Python's audit events if the files in `assignment/` are tested at home."""
    if config.getoption("impl") == "assignment" and config.pluginmanager.hasplugin("terminal"):
        recorder = Recorder(course().assignment, course().root)
        sys.addaudithook(recorder.hear)
        config.pluginmanager.register(recorder)
