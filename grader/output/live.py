"""Gradescope's file while tests still run: rewritten after each, so that a platform's time-out keeps what is earned."""

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.output.formats import gradescope
from grader.pipeline import rubric
from grader.pipeline.job import FinishedTest
from grader.results.result import Result, write_whole
from torchkata.course import Kata
from torchkata.result import TestResult

NOT_RUN = TestResult("", "not_graded")


class LiveReport:
    """The file at `path`, of one submission. Every method raises CallError where it can't be written."""

    def __init__(self, path: Path, katas: Sequence[Kata]) -> None:
        self.path = path
        self.katas = katas
        self.ended: dict[str, dict[str, TestResult]] = {kata.name: {} for kata in katas}
        self.began = time.monotonic()

    def begin(self, blank: Result) -> None:
        """Show a submission of which no test has run."""
        self.blank = blank
        self.show()

    def add(self, event: FinishedTest) -> None:
        """Show one more test."""
        self.ended[event.kata][event.result.name] = event.result
        self.show()

    def show(self) -> None:
        """Write what is known so far."""
        katas = [rubric.score(kata, self.ended[kata.name], missing=NOT_RUN) for kata in self.katas]
        seconds = round(time.monotonic() - self.began, 3)
        self.finish(msgspec.structs.replace(self.blank, katas=katas, seconds=seconds))

    def finish(self, result: Result) -> None:
        """Write the whole result."""
        self.write(gradescope.render(result))

    def refuse(self, why: str) -> None:
        """Say why the submission can't be graded."""
        self.write(gradescope.refusal(why))

    def write(self, content: bytes) -> None:
        """Put the new file in the place of the old one at once."""
        try:
            write_whole(self.path, content)
        except OSError as error:
            raise CallError(f"--gradescope {self.path}: can't write there ({error.strerror})") from None
