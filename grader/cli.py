"""The command `grader`: grade submissions, export results, package the grader for a platform, certify the assignment.

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


class Format(StrEnum):
    """Whose results an export is."""

    gradescope = "gradescope"
    classroom50 = "classroom50"
    github = "github"
    junit = "junit"


class Platform(StrEnum):
    """Where a packaged grader runs."""

    gradescope = "gradescope"
    classroom50 = "classroom50"
    github = "github"


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
    gradescope: Annotated[
        Path | None, typer.Option(help="Rewrite this results.json after every test (one SUBMISSION).", metavar="PATH")
    ] = None,
) -> None:
    """Grade one or many submissions into DIR: DIR/<id>/result.json and DIR/gradebook.csv.

    What has been graded before with the same files, tests and options is not graded again.
    """
    from grader.grade import Options, grade_into

    options = Options(out, jobs, seed, examples, isolation.value, tuple(kata or ()), force, quiet, gradescope)
    sys.exit(run(lambda: grade_into(submissions, options)))


@app.command()
def export(
    directory: Annotated[Path, typer.Argument(help="What `grader grade` had as --out.", metavar="DIR")],
    format: Annotated[Format, typer.Option(help="Whose format.")],
    to: Annotated[Path, typer.Option(help="The file, or the directory for several submissions.", metavar="PATH")],
    field: Annotated[
        list[str] | None,
        typer.Option(help="What classroom50 needs and a result does not know (repeatable).", metavar="NAME=VALUE"),
    ] = None,
) -> None:
    """Write stored results in the format of a platform.

    gradescope, classroom50: PATH for one submission, PATH/<id>.json for several.

    junit: one file, with a suite for each submission and kata.

    github: Markdown for $GITHUB_STEP_SUMMARY. For a single submission, annotations are printed, too.

    A field that is not given comes from the variables of Classroom 50's runner or of GitHub Actions;
    {submission} in it stands for the id.
    """
    from grader.export import Options, run_export

    options = Options(format.value, to, tuple(field or ()))
    sys.exit(run(lambda: run_export(directory, options)))


@app.command()
def package(
    platform: Annotated[Platform, typer.Argument(help="Who runs it.")],
    out: Annotated[Path, typer.Argument(help="A .zip for gradescope, else a directory.", metavar="OUT")],
    source: Annotated[
        str | None,
        typer.Option(help="Fetch the grader from this repository instead of packing a copy.", metavar="URL@COMMIT"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all random inputs.")] = 0,
    examples: Examples = 100,
    force: Annotated[bool, typer.Option("--force", help="Write into an OUT that is not empty.")] = False,
) -> None:
    """Write what a platform takes as it is: the grader, and the files that the platform runs.

    gradescope: a zip to upload.

    github: what to add to the repository that students start from.

    classroom50: what to add to the classroom's repository.
    """
    from grader.package import Options, run_package

    options = Options(source, seed, examples, force)
    sys.exit(run(lambda: run_package(platform.value, out, options)))


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
    from grader.certify import Options, run_certify

    options = Options(jobs, seeds, examples, isolation.value, tuple(kata or ()), markdown)
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
