"""The progress bar: submissions, tests and the time left on a terminal; elsewhere, nothing."""

import io
import re

from rich.console import Console

from grader.pipeline.job import FinishedTest, Graded, Job
from grader.pipeline.progress import Progress
from grader.pipeline.submission import Submission
from torchkata.course import course
from torchkata.result import TestResult

LINEAR = tuple(course().choose(["linear"]))
EACH = len(LINEAR[0].points)


def ended(job: Job) -> FinishedTest:
    """Some test of this job has."""
    return FinishedTest(job, "linear", TestResult(next(iter(LINEAR[0].points)), "passed"))


def drawn(*, terminal: bool) -> str:
    """What is written while two of three submissions are graded, and a third turns out to have been graded before."""
    out = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    queued = [Job(Submission(name, {}), LINEAR, seed=0) for name in ("ada", "ben")]
    with Progress(out, "grading", "submissions", 3, 3 * EACH) as progress:
        progress.take(ended(queued[0]))
        progress.take(ended(queued[1]))
        progress.take(Graded(queued[1], [], 1.0))
        progress.expect(2, 2 * EACH)
        progress.take(ended(queued[0]))
        file = out.file
        assert isinstance(file, io.StringIO)
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())


def test_the_progress_bar_on_a_terminal_shows_submissions_tests_and_time_left() -> None:
    text = drawn(terminal=True)
    assert "grading 0/3 submissions" in text
    assert f"2/{3 * EACH} tests" in text
    last = text.splitlines()[-1]
    assert "grading 1/2 submissions" in last
    assert f" {EACH + 2}/{2 * EACH} tests" in last
    assert "left" in last


def test_the_progress_bar_writes_nothing_to_a_file() -> None:
    assert drawn(terminal=False) == ""
