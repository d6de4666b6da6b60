"""The command `grader`: grade submissions, certify the assignment.

Exit codes: 0 graded, whatever the scores; 2 the call is wrong; 3 something could not be graded, and it is
no student's fault.
"""

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from grader.errors import CallError, MachineError

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

    def command() -> int:
        from grader.grade import grade_into
        from grader.intake import Options

        options = Options(out, jobs, seed, examples, isolation.value, tuple(kata or ()), force, quiet)
        return grade_into(submissions, options)

    sys.exit(run(command, stopped="stopped; what is graded is stored, and the same command goes on from there"))


@app.command()
def report(results: Annotated[Path, typer.Argument(help="The --out of `grader grade`.", metavar="DIR")]) -> None:
    """Show the class from its stored results, with all remarks on the sources, and rebuild DIR/gradebook.csv."""

    def command() -> int:
        from grader.report import run_report

        return run_report(results)

    sys.exit(run(command))


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(help="The --out of one `grader grade`.", metavar="OLD")],
    new: Annotated[Path, typer.Argument(help="The --out of another.", metavar="NEW")],
    csv: Annotated[Path | None, typer.Option(help="Write the table there, too.", metavar="PATH")] = None,
) -> None:
    """Show what a regrade changed: submission, kata, points before and after, and which tests."""

    def command() -> int:
        from grader.differences import run_diff

        return run_diff(old, new, csv)

    sys.exit(run(command))


@app.command()
def doctor() -> None:
    """Say what works on this machine, what does not, and what mends it.

    Exit code 0 if submissions can be graded in a sandbox, else 3.
    """

    def command() -> int:
        from grader.doctor import run_doctor

        return run_doctor()

    sys.exit(run(command))


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

    def command() -> int:
        from grader.certify import Options, run_certify

        return run_certify(Options(jobs, seeds, examples, isolation.value, tuple(kata or ()), markdown))

    sys.exit(run(command))


def run(command: Callable[[], int], stopped: str = "stopped") -> int:
    """The command's exit code; mistakes in the call, and Ctrl-C, as one line. `command` does its own imports."""

    try:
        return command()
    except CallError as error:
        print(f"grader: {error}", file=sys.stderr)
        return 2
    except MachineError as error:
        print(f"grader: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print(f"grader: {stopped}", file=sys.stderr)
        return 130


def main() -> NoReturn:
    """Entry point."""
    app()
    sys.exit(0)
