"""The command `grader`: grade submissions, certify the assignment.

Exit codes: 0 graded, whatever the scores; 2 the call is wrong; 3 something could not be graded, and it is
no student's fault.
"""

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn, TypeAlias

import typer

from grader import signals
from grader.errors import CallError, GraderError

Command: TypeAlias = Callable[[], int]

app = typer.Typer(
    name="grader",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Grade torchkata submissions. A student's code runs in a sandbox, never where the verdict is made.",
)


class Choice(StrEnum):
    """How far a student's code is shut in."""

    auto = "auto"
    bwrap = "bwrap"
    none = "none"


Examples = Annotated[int, typer.Option(min=1, help="Random inputs per property.")]
Jobs = Annotated[int, typer.Option(min=1, help="How many submissions at a time.")]
Katas = Annotated[list[str] | None, typer.Option(help="Only this kata (repeatable).", metavar="NAME")]
IsolationOption = Annotated[Choice, typer.Option(help="auto: bwrap where it works, else none with a warning.")]


@app.callback()
def root() -> None:
    """Keeps the subcommands subcommands."""


@app.command()
def grade(
    submissions: Annotated[
        list[Path], typer.Argument(help="Directories, .zip, .tar or .tar.gz.", metavar="SUBMISSION...")
    ],
    out: Annotated[Path, typer.Option(help="Where the results go.", metavar="DIR")],
    jobs: Jobs = 1,
    seed: Annotated[int, typer.Option(help="Of all random inputs.")] = 0,
    examples: Examples = 100,
    isolation: IsolationOption = Choice.auto,
    kata: Katas = None,
    force: Annotated[bool, typer.Option("--force", help="Grade again what has been graded.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print errors only.")] = False,
) -> None:
    """Grade one or many submissions into DIR: DIR/<id>/result.json and DIR/gradebook.csv.

    What has been graded before with the same files, tests and options is not graded again.
    """

    def load() -> Command:
        from grader.grade import grade_into
        from grader.intake import Options

        options = Options(out, jobs, seed, examples, isolation.value, tuple(kata or ()), force, quiet)
        return lambda: grade_into(submissions, options)

    sys.exit(run(load, stopped="stopped; what is graded is stored, and the same command goes on from there"))


@app.command()
def report(results: Annotated[Path, typer.Argument(help="The --out of `grader grade`.", metavar="DIR")]) -> None:
    """Show the class from its stored results, with all remarks on the sources, and rebuild DIR/gradebook.csv."""

    def load() -> Command:
        from grader.report import run_report

        return lambda: run_report(results)

    sys.exit(run(load))


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(help="The --out of one `grader grade`.", metavar="OLD")],
    new: Annotated[Path, typer.Argument(help="The --out of another.", metavar="NEW")],
    csv: Annotated[Path | None, typer.Option(help="Write the table there, too.", metavar="PATH")] = None,
) -> None:
    """Show what a regrade changed: submission, kata, points before and after, and which tests."""

    def load() -> Command:
        from grader.differences import run_diff

        return lambda: run_diff(old, new, csv)

    sys.exit(run(load))


@app.command()
def doctor() -> None:
    """Say what works on this machine, what does not, and what mends it.

    Exit code 0 if submissions can be graded in a sandbox, else 3.
    """

    def load() -> Command:
        from grader.doctor import run_doctor

        return run_doctor

    sys.exit(run(load))


@app.command()
def certify(
    jobs: Jobs = 1,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds the solution is graded under.")] = 20,
    examples: Examples = 100,
    isolation: IsolationOption = Choice.auto,
    kata: Katas = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables there, too.", metavar="FILE")] = None,
) -> None:
    """Prove the assignment: stubs not started, solution done, the zoo's right ones accepted, its wrong ones caught."""

    def load() -> Command:
        from grader.certify import Options, run_certify

        options = Options(jobs, seeds, examples, isolation.value, tuple(kata or ()), markdown)
        return lambda: run_certify(options)

    sys.exit(run(load))


def run(load: Callable[[], Command], stopped: str = "stopped") -> int:
    """Import a command and run it: its exit code; mistakes in the call, and Ctrl-C, as one line."""
    signals.exit_at_ctrl_c(f"grader: {stopped}")
    command = load()
    signals.raise_at_ctrl_c()
    try:
        return command()
    except BaseException as error:
        if signals.asked_to_stop.is_set():  # whatever an interrupted library has made of it
            line, code = stopped, signals.STOPPED
        elif isinstance(error, GraderError):
            line, code = str(error), 2 if isinstance(error, CallError) else 3
        else:
            raise
    print(f"grader: {line}", file=sys.stderr)
    return code


def main() -> NoReturn:
    """Entry point."""
    app()
    sys.exit(0)
