"""`grader gradescope`: grades one submission on Gradescope, and updates its `results.json` after every test."""

import contextlib
from pathlib import Path

from grader.base.errors import CallError
from grader.base.terminal import create_console
from grader.commands.grade import grade_here, make_warn
from grader.options import GradeOptions
from grader.output.formats.gradescope import LiveReport
from grader.output.outcome import report_outcome
from grader.pipeline.layouts import Download
from grader.pipeline.queue import fill_queue
from grader.pipeline.selection import choose
from grader.pipeline.startup import Startup
from grader.results.result import read


def run_gradescope(submission: Path, report: Path, options: GradeOptions, start: Startup) -> int:
    """Grade the submission, write the report, and return the exit code. Raises CallError or MachineError as `grade`."""
    if not report.parent.is_dir():
        raise CallError(f"{report}: there is no directory {report.parent}")
    live, out, warn = LiveReport(report, choose(options.katas)), create_console(), make_warn(start)
    found = Download([submission])
    queue = fill_queue(found, options, warn)
    with contextlib.closing(start):
        outcome = grade_here(start, queue, out, warn, live)
    for graded in {*queue.reused, *outcome.stored}:  # at most one submission, or none if it could not be graded
        live.finish(read(options.out / graded / "result.json"))
    return report_outcome(outcome, queue, found, out, is_temporary=True)
