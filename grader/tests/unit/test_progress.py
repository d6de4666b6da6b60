"""Tests of the progress bar: it is drawn on a terminal and never written to a file."""

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


def draw(*, terminal: bool) -> str:
    """Return the output of grading two of three submissions, when the third turns out to be graded already."""
    file = io.StringIO()
    ada, ben = (Job(Submission(name, {}), LINEAR, seed=0) for name in ("ada", "ben"))
    passed = TestResult(next(iter(LINEAR[0].points)), "passed")
    with Progress(Console(file=file, force_terminal=terminal, width=100), "grading", "submissions", 3, 3 * EACH) as bar:
        bar.take(FinishedTest(ada, "linear", passed))
        bar.take(FinishedTest(ben, "linear", passed))
        bar.take(Graded(ben, [], 1.0))
        bar.expect(2, 2 * EACH)
        bar.take(FinishedTest(ada, "linear", passed))
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())


def test_progress_shows_submissions_tests_and_time() -> None:
    text = draw(terminal=True)
    assert "grading 0/3 submissions" in text
    assert f"2/{3 * EACH} tests" in text
    last = text.splitlines()[-1]
    for words in ("grading 1/2 submissions", f" {EACH + 2}/{2 * EACH} tests", "left"):
        assert words in last
    assert draw(terminal=False) == ""
