"""`kata check`: the tests as the grader runs them, on what would be handed in, and the points."""

import os
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..course import Kata, course
from ..first_pass import INPUTS, NewInputs
from ..languages import words, wrapped
from ..progress import RESULTS, WIDTH, earned
from ..result import TestResult
from ..selection import STUDENT
from ..state import load
from ..student import InProcess, Student
from .export import Note, collected
from .runs import EXPECTED, can_fork

if TYPE_CHECKING:
    from ..worker import ForkedRunner

SEEDS = 10**6


def check(katas: Sequence[Kata]) -> int:
    """Run the tests of these, or of all that are graded, and print the points: pytest's exit code."""
    chosen = katas or [kata for kata in course().katas.values() if kata.track in course().graded]
    os.chdir(course().root)
    options = ["--hypothesis-profile=grade", f"--seed={random.SystemRandom().randrange(SEEDS)}"]
    named = f"--kata={','.join(kata.name for kata in chosen)}"
    return pytest.main([EXPECTED, *options, named], plugins=[AsGraded(chosen)])


class AsGraded:
    """A plugin of pytest: other processes run the code, where the platform can fork, and points are told at the end."""

    def __init__(self, katas: Sequence[Kata]) -> None:
        self.katas = katas
        self.runner: ForkedRunner | None = None
        self.left_behind: list[Note] = []

    @pytest.hookimpl(trylast=True)  # after what settles whose code is tested, and on which inputs
    def pytest_configure(self, config: pytest.Config) -> None:
        """Draw inputs as `pytest` does, which takes less time; let torch compute on one thread, as the grader does."""
        config.stash[INPUTS] = NewInputs()
        if "torch" in course().preload:
            import torch

            torch.set_num_threads(1)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the files as they are now. All is imported, and nothing is computed yet: the time to fork."""
        files, notes = collected(course().assignment)
        self.left_behind = [
            note for note in notes if note.file.removesuffix(".py") in {kata.name for kata in self.katas}
        ]
        if can_fork():
            from ..worker import ForkedRunner

            self.runner = ForkedRunner(files, course().limits)
            session.config.stash[STUDENT] = Student(self.runner)
            return
        folder = tempfile.TemporaryDirectory(prefix="torchkata-check-")
        session.config.add_cleanup(folder.cleanup)
        for name, content in files.items():
            (Path(folder.name) / name).write_bytes(content)
        session.config.stash[STUDENT] = Student(InProcess(Path(folder.name), course().limits.call_seconds))

    def pytest_unconfigure(self) -> None:
        """End the other processes."""
        if self.runner is not None:
            self.runner.close()

    @pytest.hookimpl(trylast=True)  # below the table
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """The points, those of each kata that has not all, and what is not as the grader has it."""
        results = config.stash[RESULTS]
        points = {kata.name: earned(kata.name, results.get(kata.name, [])) for kata in self.katas}
        most = sum(kata.max_score for kata in self.katas)
        total = words("check.points", earned=f"{sum(points.values()):g}", most=f"{most:g}")
        terminalreporter.write_line("\n" + total, bold=True)
        width = max(len(kata.name) for kata in self.katas)
        for kata in self.katas:
            if (got := points[kata.name]) < kata.max_score:
                told = words("check.kata", kata=f"{kata.name:<{width}}", earned=f"{got:g}", most=f"{kata.max_score:g}")
                broken = ", ".join(unfinished(kata, results))
                terminalreporter.write_line(told + (words("check.lent", katas=broken) if broken else ""))
        for note in self.left_behind:
            terminalreporter.write_line(words("export.note", name=note.file, text=note.text, width=width + len(".py")))
        for line in wrapped(words("check.differs" if can_fork() else "check.no_fork"), WIDTH, 0):
            terminalreporter.write_line(line)


def unfinished(kata: Kata, results: Mapping[str, Sequence[TestResult]]) -> list[str]:
    """What the kata builds on and is not done: the grader puts something in its place."""
    state = load()
    ran = {name: earned(name, ended) == course().katas[name].max_score for name, ended in results.items()}
    return [name for name in course().foundations(kata.name) if not ran.get(name, state.is_done(name))]
