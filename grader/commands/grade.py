"""`grader grade`: reads submissions, grades those without a current result, and stores and prints the results."""

import contextlib
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import msgspec
from rich.console import Console

from grader.base.errors import CallError, MachineError
from grader.base.terminal import create_console, print_json, print_warning
from grader.base.text import count, list_names
from grader.output.formats.gradescope import LiveReport
from grader.output.summary import print_class, print_problems, rebuild
from grader.pipeline.executor import Executor, ProgressListener, RunOutcome, Warn
from grader.pipeline.layouts import Download, find_submissions
from grader.pipeline.queue import Options, Queue, check_replaced
from grader.pipeline.run import grade_tests
from grader.pipeline.selection import choose
from grader.pipeline.startup import Startup
from grader.pipeline.submission_ids import Refusal, assign_ids
from grader.pipeline.trees import SubmissionError
from grader.results import previous, result
from grader.results.result import Result

FINDINGS_SHOWN = 20
SCHEMA = "torchkata/grade/v1"


def grade_into(given: Sequence[Path], options: Options, start: Startup) -> int:
    """Grade the submissions, store and print the results, and return the exit code.

    Raises CallError (before anything is written) if the options or submissions can't be used, or MachineError if this
    machine can't grade.
    """
    if options.executor == "slurm":
        grading = options.grading
        if grading.isolation == "auto":  # otherwise a node might silently grade with weaker isolation
            grading = msgspec.structs.replace(grading, isolation="bwrap")
        options = replace(options, grading=grading, alone=False)
    execute = choose_executor(options, start)
    return grade_found(given, find_submissions(given, options.layout), options, start, execute)


def grade_live(submission: Path, report: Path, options: Options, start: Startup) -> int:
    """Grade one submission like `grade_into`, and update Gradescope's `report` after every test."""
    if not report.parent.is_dir():
        raise CallError(f"{report}: there is no directory {report.parent}")
    live = LiveReport(report, choose(options.grading.katas))
    return grade_found([submission], Download([submission]), options, start, partial(grade_here, start), live)


def grade_found(
    given: Sequence[Path],
    found: Download,
    options: Options,
    start: Startup,
    execute: Executor,
    live: LiveReport | None = None,
) -> int:
    """Grade the submissions that were found at the given paths, as described in `grade_into`."""
    entries, refused = assign_ids(found.submissions, found.loose)
    if found.loose and options.executor != "local":
        why = SubmissionError(
            "single files can be graded only with --executor local; for a cluster, put them into a folder"
        )
        refused += [Refusal(entry, why) for entry in entries if entry.files]
        entries = [entry for entry in entries if not entry.files]
    queue = Queue(entries, refused, choose(options.grading.katas), options)
    out, err = create_console(quiet=options.quiet, stderr=options.as_json), create_console(stderr=True)

    def warn(text: str) -> None:
        start.clear_line()
        print_warning(err, text)

    if not options.force:
        check_replaced(queue.entries, options, warn)
    if found.submissions != list(given):
        place = f"{given[0]}: " if len(given) == 1 else ""
        out.print(f"{place}{count(len(entries) + len(refused), 'submission')}", markup=False, soft_wrap=True)
    if skipped := found.list_skipped_text():
        out.print(f"  skipped: {list_names(skipped)}", markup=False, soft_wrap=True)
    with contextlib.closing(start):
        outcome = execute(queue, out, warn, live)
    previous.forget_older(options.out, queue.judges)
    rows, unreadable = rebuild(options.out)
    shown = {*queue.reused, *outcome.stored}
    if live is not None:
        for submission in shown:  # at most one submission, or none if it could not be graded
            live.finish(result.read(options.out / submission / "result.json"))
    print_class(out, [row for row in rows if row.submission in shown], options.out, FINDINGS_SHOWN)
    if live is None:
        out.print(f"page:      grader report {shlex.quote(str(options.out))}", markup=False, soft_wrap=True)
    if queue.reused:
        out.print(
            f"{len(queue.reused)} of {len(shown)} were already graded with the same options (use --force to repeat)."
        )
    if outcome.again:
        names = ", ".join(f"{kata} ({count})" for kata, count in outcome.again.items())
        out.print(f"graded again (other katas unchanged): {names}", markup=False, soft_wrap=True)
    refusals = [*queue.describe_refusals(), *describe_skipped(found)]
    print_problems(err, [*refusals, *unreadable])
    for problem in outcome.broken:
        print_problems(err, problem.splitlines()[:1])
        err.print("\n".join(problem.splitlines()[1:]), markup=False, highlight=False, soft_wrap=True)
    if outcome.unsure:
        remedy = "fix the problem above and run" if outcome.broken else "run"
        print_problems(err, [f"could not be graded; {remedy} the same command again: {list_names(outcome.unsure)}"])
    if outcome.unfit:
        print_problems(err, [outcome.unfit])
    code = 3 if outcome.unsure or outcome.broken or outcome.unfit else 2 if refusals else 0
    if options.as_json:
        submissions = [
            summarize(row, options.out, reused=row.submission in queue.reused)
            for row in rows
            if row.submission in shown
        ]
        problems = [*refusals, *unreadable, *outcome.broken, *([outcome.unfit] if outcome.unfit else [])]
        print_json({"schema": SCHEMA, "exit_code": code, "submissions": submissions, "problems": problems})
    return code


def describe_skipped(found: Download) -> list[str]:
    """Return a line about code that is beside the submissions of a class, if there is any."""
    names = found.list_skipped_code()
    return [f"skipped, because it is not clear whose it is: {list_names(names)} ({len(names)} in all)"] if names else []


def summarize(row: Result, out: Path, *, reused: bool) -> dict[str, object]:
    """Return the entry of a submission for --json. Its `result` is the path of the complete result."""
    katas = [{name: getattr(kata, name) for name in ("kata", "status", "score", "max_score")} for kata in row.katas]
    names = ("submission", "score", "max_score", "isolation", "seconds")
    values = {name: getattr(row, name) for name in names}
    return {**values, "result": str(out / row.submission / "result.json"), "graded_before": reused, "katas": katas}


def choose_executor(options: Options, start: Startup) -> Executor:
    """Return the executor for these options. Raises CallError or MachineError if the options can't be used."""
    if options.executor == "local":
        if options.slurm:
            raise CallError("--slurm needs --executor slurm")
        return partial(grade_here, start)
    if find_spec("submitit") is None:
        raise MachineError('submitit is not installed: pip install -e ".[grader,slurm]"')
    from grader.cluster.rounds import Slurm

    return Slurm(options).grade


def grade_here(start: Startup, queue: Queue, out: Console, warn: Warn, live: ProgressListener | None) -> RunOutcome:
    """Run all tests on this machine, then grade speed."""
    options, device = queue.options, queue.options.grading.device
    try:
        outcome = grade_tests(queue, out, warn, live, start)
    except CallError:
        raise
    except BaseException:
        if options.out.is_dir():
            rebuild(options.out)
        raise
    if device != "none":
        from grader.pipeline.speed import grade_speeds

        try:
            unsure, outcome.unfit = grade_speeds(device, queue, [*queue.reused, *outcome.stored], out, warn)
        finally:
            rebuild(options.out)
        outcome.unsure += [submission for submission in unsure if submission not in outcome.unsure]
    return outcome
