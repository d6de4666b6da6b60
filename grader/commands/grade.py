"""`grader grade`: reads submissions, grades those without a current result, and stores and prints the results."""

import contextlib
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console

from grader.base.errors import CallError, MachineError
from grader.base.terminal import create_console, print_json, print_warning
from grader.base.text import list_names
from grader.marks.compute import find_obsolete_overrides, read_graded
from grader.marks.rulebook import read_rulebook
from grader.output.formats.gradescope import LiveReport
from grader.output.summary import print_class, print_problems, rebuild
from grader.pipeline.archives import SubmissionError
from grader.pipeline.download import Download, find_submissions
from grader.pipeline.executor import Executor, ProgressListener, RunOutcome, Warn
from grader.pipeline.intake import pseudonymize
from grader.pipeline.queue import Options, Queue, demand_no_loss
from grader.pipeline.run import grade_tests
from grader.pipeline.selection import choose
from grader.pipeline.startup import Startup
from grader.pipeline.submission_ids import Refusal, assign_ids
from grader.results import result
from grader.results.result import Result
from torchkata.course import Kata

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
    people = options.people
    if options.pseudonyms is not None and people is not None:
        raise CallError("--class and --pseudonyms can't be combined: --class prints names")
    katas = choose(options.grading.katas)
    grade = choose_executor(options, start)
    found = Download(list(given)) if options.gradescope else find_submissions(given)
    live = make_live_report(found.submissions, katas, options)
    entries, refused = assign_ids(found.submissions, found.loose)
    if found.loose and options.executor != "local":
        why = SubmissionError(
            "single files can be graded only with --executor local; for a cluster, put them into a folder"
        )
        refused += [Refusal(entry, why) for entry in entries if entry.files]
        entries = [entry for entry in entries if not entry.files]
    if options.pseudonyms is not None:
        if options.executor != "local":
            raise CallError("--pseudonyms needs --executor local")
        entries, refused = pseudonymize(entries, refused, options.pseudonyms, options.out)
    queue = Queue(entries, refused, katas, options)
    if not options.force:
        demand_no_loss(queue.entries, options)
    out, err = create_console(quiet=options.quiet, stderr=options.as_json), create_console(stderr=True)
    book = read_rulebook(people) if people is not None else None
    before = read_graded(options.out, book)[0] if book is not None else {}

    def warn(text: str) -> None:
        start.clear_line()
        print_warning(err, text)

    if found.submissions != list(given):
        place = f"{given[0]}: " if len(given) == 1 else ""
        out.print(f"{place}{len(entries) + len(refused)} submissions", markup=False, soft_wrap=True)
    if found.passed_over:
        passed_over = list_names(found.passed_over) if options.pseudonyms is None else f"{len(found.passed_over)} files"
        out.print(f"  skipped: {passed_over}", markup=False, soft_wrap=True)
    with contextlib.closing(start):
        outcome = grade(queue, out, warn, live)
    rows, unreadable = rebuild(options.out)
    shown = {*queue.reused, *outcome.stored}
    if live is not None:
        for submission in shown:  # at most one submission, or none if it could not be graded
            live.finish(result.read(options.out / submission / "result.json"))
    print_class(out, [row for row in rows if row.submission in shown], options.out, FINDINGS_SHOWN)
    out.print(f"page:      grader report {shlex.quote(str(options.out))}", markup=False, soft_wrap=True)
    if queue.reused:
        out.print(
            f"{len(queue.reused)} of {len(shown)} were already graded with the same options (use --force to repeat)."
        )
    if outcome.again:
        names = ", ".join(f"{kata} ({count})" for kata, count in outcome.again.items())
        out.print(f"graded again (other katas unchanged): {names}", markup=False, soft_wrap=True)
    refusals = [str(refusal) for refusal in queue.refused]
    print_problems(err, [*refusals, *unreadable])
    if book is not None:
        print_problems(err, find_obsolete_overrides(book, before, read_graded(options.out, book)[0]))
    for problem in outcome.broken:
        print_problems(err, problem.splitlines()[:1])
        err.print("\n".join(problem.splitlines()[1:]), markup=False, highlight=False, soft_wrap=True)
    if outcome.unsure:
        remedy = "fix the problem above and run" if outcome.broken else "run"
        print_problems(err, [f"could not be graded; {remedy} the same command again: {list_names(outcome.unsure)}"])
    if outcome.unfit:
        print_problems(err, [outcome.unfit])
    code = 3 if outcome.unsure or outcome.broken or outcome.unfit else 2 if queue.refused else 0
    if options.as_json:
        submissions = [
            summarize(row, options.out, reused=row.submission in queue.reused)
            for row in rows
            if row.submission in shown
        ]
        problems = [*refusals, *unreadable, *outcome.broken, *([outcome.unfit] if outcome.unfit else [])]
        print_json({"schema": SCHEMA, "exit_code": code, "submissions": submissions, "problems": problems})
    return code


def summarize(row: Result, out: Path, *, reused: bool) -> dict[str, object]:
    """Return the entry of a submission for --json. Its `result` is the path of the complete result."""
    katas = [{name: getattr(kata, name) for name in ("kata", "status", "score", "max_score")} for kata in row.katas]
    names = ("submission", "score", "max_score", "isolation", "seconds")
    values = {name: getattr(row, name) for name in names}
    return {**values, "result": str(out / row.submission / "result.json"), "graded_before": reused, "katas": katas}


def choose_executor(options: Options, start: Startup) -> Executor:
    """Return the executor for these options. Raises CallError or MachineError if the options can't be used."""
    if options.executor == "local":
        if options.slurm or options.per_task is not None:
            raise CallError("--slurm and --per-task need --executor slurm")
        return partial(grade_here, start)
    try:
        from grader.cluster.grading import Slurm
    except ModuleNotFoundError as error:
        raise MachineError(f'{error.name} is not installed: pip install -e ".[grader,slurm]"') from None
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


def make_live_report(paths: Sequence[Path], katas: Sequence[Kata], options: Options) -> LiveReport | None:
    """Return the report for --gradescope, or None if the option is not given. Raises CallError if it can't be used."""
    path = options.gradescope
    if path is None:
        return None
    if options.executor != "local":
        raise CallError("--gradescope needs --executor local")
    if len(paths) != 1:
        raise CallError("--gradescope supports only a single submission")
    if not path.parent.is_dir():
        raise CallError(f"--gradescope {path}: there is no directory {path.parent}")
    return LiveReport(path, katas)
