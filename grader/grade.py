"""`grader grade`: take in the submissions, grade what has not been graded, store every result, show the class."""

import contextlib
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec
from rich.console import Console

from grader import result
from grader.collect import Tests
from grader.course.intake import Intake, Options
from grader.course.report import rebuild, show, tell
from grader.course.roster import roster
from grader.errors import CallError, MachineError
from grader.executor import Executor, Outcome, Warn
from grader.leftovers import clear_runtimes
from grader.live import LiveReport
from grader.progress import Progress
from grader.result import Result
from grader.session import Graded, Order, TestEnded
from grader.session import grade as grade_orders
from grader.start import Start
from grader.terminal import console
from grader.wanted import choose
from grader.worker.launch import Sandbox
from grader.workplace import with_workplace
from torchkata.course import Kata

REMARKS_SHOWN = 20


def grade_into(paths: Sequence[Path], options: Options, start: Start) -> int:
    """Do all of it; the exit code. Raises CallError before anything is written, and MachineError."""
    if options.executor == "slurm":
        isolation = "bwrap" if options.isolation == "auto" else options.isolation  # no node quietly grades with less
        options = replace(options, isolation=isolation, alone=False)
    katas = choose(options.katas)
    grade = executor(options, start)
    live = live_report(paths, katas, options)
    intake = Intake(*roster(paths), katas, options)
    out, err = console(quiet=options.quiet), console(stderr=True)

    def warn(text: str) -> None:
        start.say_no_more()
        err.print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)

    with contextlib.closing(start):
        outcome = grade(intake, out, warn, live)
    rows, unreadable = rebuild(options.out)
    shown = {*intake.reused, *outcome.stored}
    if live is not None:
        for submission in shown:  # one, or none where it could not be graded
            live.finish(result.read(options.out / submission / "result.json", Result))
    show(out, [row for row in rows if row.submission in shown], options.out, REMARKS_SHOWN)
    out.print(f"page:      grader report {shlex.quote(str(options.out))}", markup=False, soft_wrap=True)
    if intake.reused:
        out.print(
            f"{len(intake.reused)} of {len(shown)} had been graded before with the same options (--force grades again)."
        )
    tell(err, [*intake.refused, *unreadable])
    if outcome.unsure:
        tell(err, [f"could not be graded, run the same command again: {', '.join(outcome.unsure)}"])
    return 3 if outcome.unsure else 2 if intake.refused else 0


def executor(options: Options, start: Start) -> Executor:
    """Who grades what the intake finds, and stores it. Raises CallError and MachineError where it can't."""
    if options.executor == "local":
        if options.slurm or options.per_task is not None:
            raise CallError("--slurm and --per-task go with --executor slurm")
        return partial(grade_here, start=start)
    try:
        from grader.cluster.grading import on_slurm
    except ModuleNotFoundError as error:
        raise MachineError(f'{error.name} is not installed: pip install -e ".[grader,slurm]"') from None
    return on_slurm(options)


def grade_here(intake: Intake, out: Console, warn: Warn, live: LiveReport | None, start: Start) -> Outcome:
    """Grade on this machine: all tests, then speed. Raises CallError before anything is written, and MachineError."""
    options = intake.options
    try:
        outcome = grade_tests(intake, out, warn, live, start)
    except CallError:
        raise
    except BaseException:
        if options.out.is_dir():
            rebuild(options.out)
        raise
    if options.device != "none":
        from grader.performance.phase import grade_speeds

        try:
            unsure = grade_speeds(options.device, intake, [*intake.reused, *outcome.stored], out, warn)
        finally:
            rebuild(options.out)
        outcome.unsure += [submission for submission in unsure if submission not in outcome.unsure]
    return outcome


def grade_tests(
    intake: Intake, out: Console, warn: Warn, live: LiveReport | None = None, start: Start | None = None
) -> Outcome:
    """Run the tests of what has not been graded. Raises CallError before anything is written, and MachineError."""
    options, outcome = intake.options, Outcome()
    orders = intake.orders()
    try:
        first = next(orders, None)
    except CallError as error:
        if live is not None:
            live.refuse(str(error))
        raise
    if first is None:
        return outcome
    waiting = chain([first], orders)

    def use(tests: Tests, sandbox: Sandbox) -> None:
        grade_all(waiting, intake, outcome, tests, sandbox, out, live)

    clear_runtimes()
    if live is not None:
        blank = result_of(Graded(first, [], 0.0), [], options, None, intake.prints[first.submission.id])
        live.begin(msgspec.structs.replace(blank, performance=not_timed_yet(options, intake.katas)))
    private = [path.absolute() for path in (*(entry.path for entry in intake.entries), options.out)]
    with_workplace(
        options.isolation,
        options.examples,
        warn,
        use,
        private=private,
        katas=intake.katas,
        start=start,
        replay=options.replay,
    )
    return outcome


def not_timed_yet(options: Options, katas: Sequence[Kata]) -> list[result.PerformanceResult]:
    """The rows of workloads that are still to be timed; none without a device."""
    if options.device == "none":
        return []
    from grader.performance.phase import not_yet

    return not_yet(katas)


def live_report(paths: Sequence[Path], katas: Sequence[Kata], options: Options) -> LiveReport | None:
    """The file that is rewritten after every test, where one was asked for. Raises CallError."""
    path = options.gradescope
    if path is None:
        return None
    if options.executor != "local":
        raise CallError("--gradescope goes with --executor local")
    if len(paths) != 1:
        raise CallError("--gradescope takes a single submission")
    if not path.parent.is_dir():
        raise CallError(f"--gradescope {path}: there is no directory {path.parent}")
    return LiveReport(path, katas)


def grade_all(
    orders: Iterable[Order],
    intake: Intake,
    outcome: Outcome,
    tests: Tests,
    sandbox: Sandbox,
    out: Console,
    live: LiveReport | None,
) -> None:
    """Grade the orders and store each result as it comes. Raises MachineError."""
    each = sum(len(kata.points) for kata in intake.katas)
    progress = Progress(out, "grading", "submissions", intake.expected, intake.expected * each)
    with progress, contextlib.closing(grade_orders(orders, tests, sandbox, intake.options.jobs)) as events:
        for event in events:
            progress.expect(intake.expected, intake.expected * each)
            progress.take(event)
            if live is not None and isinstance(event, TestEnded):
                live.add(event)
            if isinstance(event, Graded):
                submission = event.order.submission.id
                fingerprint = intake.prints.pop(submission)
                if event.katas is not None:
                    result.store(
                        result_of(event, event.katas, intake.options, sandbox, fingerprint),
                        intake.options.out,
                    )
                    outcome.stored.append(submission)
                if event.katas is None or any(kata.status == "inconclusive" for kata in event.katas):
                    outcome.unsure.append(submission)


def result_of(
    event: Graded, katas: list[result.KataResult], options: Options, sandbox: Sandbox | None, fingerprint: str
) -> Result:
    """The result to store; without a sandbox, of what is yet to be graded."""
    return Result(
        submission=event.order.submission.id,
        score=sum(kata.score for kata in katas),
        max_score=sum(kata.max_score for kata in katas),
        fingerprint=fingerprint,
        seed=options.seed,
        examples=options.examples,
        isolation=options.isolation if sandbox is None else sandbox.isolation,
        seconds=round(event.seconds, 3),
        environment={**result.environment(), "workers can": ", ".join([] if sandbox is None else sandbox.open_walls)},
        katas=katas,
        remarks=event.remarks,
    )
