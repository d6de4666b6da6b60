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


class Part(StrEnum):
    """A part of what certify proves."""

    zoo = "zoo"
    attacks = "attacks"


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
    from grader.grade import Options, grade_into

    options = Options(out, jobs, seed, examples, isolation.value, tuple(kata or ()), force, quiet)
    sys.exit(run(lambda: grade_into(submissions, options)))


@app.command()
def certify(
    jobs: Jobs = 1,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds the solution is graded under.")] = 20,
    examples: Examples = 100,
    isolation: IsolationOption = Choice.auto,
    kata: Katas = None,
    only: Annotated[Part | None, typer.Option(help="Prove that the tests hold, or that the sandbox does.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables there, too.", metavar="FILE")] = None,
) -> None:
    """Prove the assignment: stubs not started, solution done, the zoo's right ones accepted, its wrong ones caught.

    And that no attack of the corpus gains a point, or harms the next submission, at any isolation that works here.
    """
    from grader.certify import Options, run_certify

    options = Options(jobs, seeds, examples, isolation.value, tuple(kata or ()), markdown, only.value if only else None)
    sys.exit(run(lambda: run_certify(options)))


def run(command: Callable[[], int]) -> int:
    """The command's exit code; mistakes in the call as one line."""
    from grader.errors import CallError, MachineError

    try:
        return command()
    except CallError as error:
        print(f"grader: {error}", file=sys.stderr)
        return 2
    except MachineError as error:
        print(f"grader: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("grader: stopped; what is graded is stored, and the same command goes on from there", file=sys.stderr)
        return 130


def main() -> NoReturn:
    """Entry point."""
    app()
    sys.exit(0)
