"""Rewrites Gradescope's `results.json` after every test, so that no points are lost if the platform times out."""

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from grader.base.errors import convert_write_errors
from grader.output.formats import gradescope
from grader.pipeline import rubric
from grader.pipeline.job import FinishedTest
from grader.results.result import Result, write_whole
from torchkata.course import Kata
from torchkata.result import TestResult

NOT_RUN = TestResult("", "not_graded")


class LiveReport:
    """The report of a submission, stored at `path`. All methods raise CallError if it cannot be written."""

    def __init__(self, path: Path, katas: Sequence[Kata]) -> None:
        self.path = path
        self.katas = katas
        self.ended: dict[str, dict[str, TestResult]] = {kata.name: {} for kata in katas}
        self.began = time.monotonic()

    def begin(self, blank: Result) -> None:
        """Write the report before the first test."""
        self.blank = blank
        self.show()

    def add(self, event: FinishedTest) -> None:
        """Add the outcome of a test and rewrite the report."""
        self.ended[event.kata][event.result.name] = event.result
        self.show()

    def show(self) -> None:
        """Rewrite the report with the tests that have finished."""
        katas = [rubric.score(kata, self.ended[kata.name], missing=NOT_RUN) for kata in self.katas]
        seconds = round(time.monotonic() - self.began, 3)
        self.finish(msgspec.structs.replace(self.blank, katas=katas, seconds=seconds))

    def finish(self, result: Result) -> None:
        """Write the report of the complete result."""
        self.write(gradescope.render(result))

    def refuse(self, why: str) -> None:
        """Write a report with the reason why the submission cannot be graded."""
        self.write(gradescope.render_refusal(why))

    def write(self, content: bytes) -> None:
        """Replace the report atomically."""
        with convert_write_errors(f"--gradescope {self.path}"):
            write_whole(self.path, content)
