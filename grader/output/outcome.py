"""Prints what `grader grade` has done: the results, and what could not be graded and why."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from grader.base.terminal import create_console, print_json
from grader.base.text import count, list_names
from grader.output.summary import print_class, print_problems, rebuild
from grader.pipeline.executor import RunOutcome
from grader.pipeline.layouts import Download
from grader.pipeline.queue import Queue
from grader.results import previous
from grader.results.result import Result

FINDINGS_SHOWN = 20
SCHEMA = "torchkata/grade/v1"


def print_found(out: Console, given: Sequence[Path], found: Download, queue: Queue) -> None:
    """Print how many submissions were found in the folder of a class, and what was skipped."""
    if found.submissions != list(given):
        place = f"{given[0]}: " if len(given) == 1 else ""
        number = count(len(queue.entries) + len(queue.refused), "submission")
        out.print(f"{place}{number}")
    if skipped := found.list_skipped_text():
        out.print(f"  skipped: {list_names(skipped)}")


def report_outcome(
    outcome: RunOutcome, queue: Queue, found: Download, out: Console, *, is_temporary: bool = False
) -> int:
    """Write the gradebook, print the outcome, and return the exit code. A temporary directory needs no report."""
    options, err = queue.options, create_console(stderr=True)
    previous.forget_older(options.out, queue.judges)
    rows, unreadable = rebuild(options.out)
    names = {*queue.reused, *outcome.stored}
    shown = [row for row in rows if row.submission in names]
    print_class(out, shown, options.out, FINDINGS_SHOWN)
    if not is_temporary:
        out.print(f"page:      grader report {shlex.quote(str(options.out))}")
    if queue.reused:
        again = "already graded with the same options (use --again to repeat)"
        out.print(f"{len(queue.reused)} of {len(names)} were {again}.")
    if outcome.again:
        katas = ", ".join(f"{kata} ({number})" for kata, number in outcome.again.items())
        out.print(f"graded again (other katas unchanged): {katas}")
    refusals = queue.describe_refusals()
    if unclear := found.list_skipped_code():
        refusals.append(f"skipped, because it is not clear whose it is: {list_names(unclear)} ({len(unclear)} in all)")
    print_problems(err, [*refusals, *unreadable])
    for problem in outcome.broken:
        print_problems(err, problem.splitlines()[:1])
        err.print("\n".join(problem.splitlines()[1:]))
    if outcome.unsure:
        remedy = "fix the problem above and run" if outcome.broken else "run"
        print_problems(err, [f"could not be graded; {remedy} the same command again: {list_names(outcome.unsure)}"])
    if outcome.unfit:
        print_problems(err, [outcome.unfit])
    code = 3 if outcome.unsure or outcome.broken or outcome.unfit else 2 if refusals else 0
    if options.as_json:
        submissions = [summarize(row, options.out, reused=row.submission in queue.reused) for row in shown]
        problems = [*refusals, *unreadable, *outcome.broken, *([outcome.unfit] if outcome.unfit else [])]
        print_json({"schema": SCHEMA, "exit_code": code, "submissions": submissions, "problems": problems})
    return code


def summarize(row: Result, out: Path, *, reused: bool) -> dict[str, object]:
    """Return the entry of a submission for --json. Its `result` is the path of the complete result."""
    katas = [{name: getattr(kata, name) for name in ("kata", "status", "score", "max_score")} for kata in row.katas]
    names = ("submission", "score", "max_score", "isolation", "seconds")
    values = {name: getattr(row, name) for name in names}
    return {**values, "result": str(out / row.submission / "result.json"), "graded_before": reused, "katas": katas}
