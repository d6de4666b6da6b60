"""`grader grade`: takes submissions in, grades those without a current result, and prints the results."""

import contextlib
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from grader.base.errors import CallError, MachineError
from grader.base.terminal import create_console, print_warning
from grader.options import GradeOptions
from grader.output.outcome import print_found, report_outcome
from grader.output.summary import rebuild
from grader.pipeline.executor import Executor, ProgressListener, RunOutcome, Warn
from grader.pipeline.layouts import find_submissions
from grader.pipeline.queue import Queue, fill_queue
from grader.pipeline.run import grade_tests
from grader.pipeline.startup import Startup


def run_grade(given: Sequence[Path], options: GradeOptions, start: Startup) -> int:
    """Grade the submissions, store and print the results, and return the exit code.

    Raises CallError (before anything is written) if the options or submissions can't be used, or MachineError if this
    machine can't grade.
    """
    execute = choose_executor(options, start)
    found = find_submissions(given, options.layout)
    warn, out = make_warn(start), create_console(stderr=options.as_json)
    queue = fill_queue(found, options, warn)
    print_found(out, given, found, queue)
    with contextlib.closing(start):
        outcome = execute(queue, out, warn)
    return report_outcome(outcome, queue, found, out)


def choose_executor(options: GradeOptions, start: Startup) -> Executor:
    """Return the executor for these options. Raises CallError or MachineError if the options can't be used."""
    if not options.slurm:
        return partial(grade_here, start)
    if find_spec("submitit") is None:
        raise MachineError('submitit is not installed: pip install -e ".[grader,slurm]"')
    from grader.cluster.rounds import prepare

    return prepare(options)


def make_warn(start: Startup) -> Warn:
    """Return a function that prints a warning instead of the current step of the startup."""
    err = create_console(stderr=True)

    def warn(text: str) -> None:
        start.clear_line()
        print_warning(err, text)

    return warn


def grade_here(
    start: Startup, queue: Queue, out: Console, warn: Warn, live: ProgressListener | None = None
) -> RunOutcome:
    """Run all tests on this machine, then grade speed."""
    options = queue.options
    try:
        outcome = grade_tests(queue, out, warn, live, start)
    except CallError:
        raise
    except BaseException:
        if options.out.is_dir():
            rebuild(options.out)
        raise
    if options.device != "none":
        from grader.pipeline.speed import grade_speeds

        try:
            unsure, outcome.unfit = grade_speeds(options.device, queue, [*queue.reused, *outcome.stored], out, warn)
        finally:
            rebuild(options.out)
        outcome.unsure += [submission for submission in unsure if submission not in outcome.unsure]
    return outcome
