"""`grader grade`: read the submissions, grade what has not been graded, store every result, show the class."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from grader import gradebook, result
from grader.classtable import class_table
from grader.collect import Tests
from grader.errors import CallError, MachineError
from grader.live import LiveReport
from grader.result import Result
from grader.session import Graded, Order
from grader.session import grade as grade_orders
from grader.submission import Submission, SubmissionError
from grader.submission import read as read_submission
from grader.terminal import console, progress_bar
from grader.worker.launch import Isolation, Sandbox
from grader.workplace import with_workplace
from kata.catalog import Kata, catalog


@dataclass(frozen=True)
class Options:
    """The options of `grader grade`."""

    out: Path
    jobs: int
    seed: int
    examples: int
    isolation: Isolation
    katas: tuple[str, ...]
    force: bool
    quiet: bool
    gradescope: Path | None = None


def grade_into(paths: Sequence[Path], options: Options) -> int:
    """Do all of it; the exit code. Raises CallError before anything is written."""
    katas = choose(options.katas)
    live = live_report(paths, katas, options.gradescope)
    try:
        submissions, refused = read_all(paths)
    except CallError as error:
        if live is not None and paths[0].exists():
            live.refuse(str(error))
        raise
    prepare(options.out)
    out, err = console(quiet=options.quiet), console(stderr=True)
    prints = {s.id: result.fingerprint(s.files, fingerprinted(options, katas)) for s in submissions}
    stored = {} if options.force else {s.id: r for s in submissions if (r := reusable(options.out, s.id, prints[s.id]))}
    orders = [Order(s, katas, options.seed) for s in submissions if s.id not in stored]
    lost: list[str] = []

    def use(tests: Tests, sandbox: Sandbox) -> None:
        with progress_bar(out, "grading", len(orders) * sum(len(kata.points) for kata in katas)) as advance:
            for event in grade_orders(orders, tests, sandbox, options.jobs):
                if not isinstance(event, Graded):
                    advance()
                    if live is not None:
                        live.add(event)
                elif event.katas is None:
                    lost.append(event.order.submission.id)
                else:
                    made = result_of(event, options, sandbox.isolation, prints[event.order.submission.id])
                    stored[made.submission] = made
                    store(made, options.out)

    def warn(text: str) -> None:
        err.print(f"warning: {text}", style="yellow")

    if live is not None and orders:
        live.begin(result_of(Graded(orders[0], [], 0.0), options, options.isolation, prints[submissions[0].id]))
    if orders:
        with_workplace(options.isolation, options.examples, warn, use)
    if live is not None and stored:
        live.finish(stored[submissions[0].id])
    gradebook.write(result.load_all(options.out), options.out)
    report(
        out, [stored[s.id] for s in submissions if s.id in stored], katas, len(submissions) - len(orders), options.out
    )
    for problem in refused:
        err.print(f"grader: {problem}", style="red", markup=False, soft_wrap=True)
    unsure = [r.submission for r in stored.values() if not r.conclusive] + lost
    if unsure:
        err.print(
            f"grader: could not be graded, run the same command again: {', '.join(unsure)}",
            markup=False,
            soft_wrap=True,
        )
    return 3 if unsure else 2 if refused else 0


def choose(names: Sequence[str]) -> tuple[Kata, ...]:
    """The katas of these names. Raises CallError."""
    try:
        return tuple(catalog().choose(list(names)))
    except ValueError as error:
        raise CallError(str(error)) from None


def live_report(paths: Sequence[Path], katas: Sequence[Kata], path: Path | None) -> LiveReport | None:
    """The file that is rewritten after every test, where one was asked for. Raises CallError."""
    if path is None:
        return None
    if len(paths) != 1:
        raise CallError("--gradescope takes a single submission")
    if not path.parent.is_dir():
        raise CallError(f"--gradescope {path}: there is no directory {path.parent}")
    return LiveReport(path, katas)


def read_all(paths: Sequence[Path]) -> tuple[list[Submission], list[str]]:
    """The submissions, and a line for each that can't be read. Raises CallError if none can be, or a path is wrong."""
    submissions: dict[str, Submission] = {}
    refused: list[str] = []
    for path in paths:
        if not path.exists():
            raise CallError(f"{path}: there is no such file or directory")
        try:
            submission = read_submission(path)
        except SubmissionError as error:
            refused.append(str(error))
            continue
        if submission.id in submissions:
            raise CallError(f"two submissions are called {submission.id}")
        submissions[submission.id] = submission
    if not submissions:
        raise CallError("; ".join(refused))
    return list(submissions.values()), refused


def prepare(directory: Path) -> None:
    """See that results can be written there. Raises CallError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise CallError(f"--out {directory}: can't write there ({error.strerror})") from None


def fingerprinted(options: Options, katas: Sequence[Kata]) -> dict[str, object]:
    """The options that a result depends on."""
    names = [kata.name for kata in katas]
    return {"seed": options.seed, "examples": options.examples, "katas": names, "isolation": options.isolation}


def reusable(directory: Path, submission: str, fingerprint: str) -> Result | None:
    """What is stored for the same submission, assignment and options, if nothing in it is inconclusive."""
    stored = result.load(directory / submission / "result.json")
    return stored if stored is not None and stored.fingerprint == fingerprint and stored.conclusive else None


def result_of(event: Graded, options: Options, isolation: str, fingerprint: str) -> Result:
    """The result to store."""
    katas = event.katas or []
    return Result(
        submission=event.order.submission.id,
        score=sum(kata.score for kata in katas),
        max_score=sum(kata.max_score for kata in katas),
        fingerprint=fingerprint,
        seed=options.seed,
        examples=options.examples,
        isolation=isolation,
        seconds=round(event.seconds, 3),
        environment=result.environment(),
        katas=katas,
    )


def store(made: Result, directory: Path) -> None:
    """Write a result. Raises MachineError where that fails."""
    try:
        result.write(made, directory)
    except OSError as error:
        raise MachineError(f"can't store the result of {made.submission} ({error.strerror})") from None


def report(out: Console, results: Sequence[Result], katas: Sequence[Kata], reused: int, directory: Path) -> None:
    """The table, and where the files are."""
    out.print(class_table(results, katas))
    if reused:
        out.print(f"{reused} of {len(results)} had been graded before with the same options (--force grades again).")
    levels = sorted({r.isolation for r in results})
    out.print(f"isolation: {', '.join(levels)}")
    out.print(f"results:   {directory}/<submission>/result.json", markup=False, soft_wrap=True)
    out.print(f"gradebook: {directory / 'gradebook.csv'}", markup=False, soft_wrap=True)
