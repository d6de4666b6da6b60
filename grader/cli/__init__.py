"""Defines the command line of `grader`. The commands are implemented in `grader.commands`."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from grader.base.main import Command, run_command
from grader.cli.grading import grade
from grader.cli.handing_out import new_course, new_kata, package, release
from grader.cli.proving import certify, doctor, translations
from grader.cli.results import diff, export, marks, report, similar
from torchkata.course import use


def show_version(value: bool) -> None:
    """Print the version and exit if `--version` was given."""
    if value:
        from torchkata.cli.command import version

        typer.echo(version())
        raise typer.Exit


def root(
    course: Annotated[
        Path | None,
        typer.Option(
            help="Course directory (default: the nearest course at or above the current directory).", metavar="DIR"
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001  (the callback has printed it)
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Select the course before the command runs."""

    def load() -> Command:
        if course is not None:
            use(course)
        return lambda: 0

    if code := run_command(load):
        sys.exit(code)


app = typer.Typer(
    name="grader",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Grade torchkata submissions. Student code runs in a sandbox, in a separate process from the grader.",
)
app.callback()(root)
for command in (
    grade,
    report,
    diff,
    similar,
    export,
    marks,
    package,
    release,
    doctor,
    certify,
    translations,
):
    app.command()(command)

new = typer.Typer(no_args_is_help=True, help="Create a course or a kata from a template.")
new.command("course")(new_course)
new.command("kata")(new_kata)
app.add_typer(new, name="new")


def main() -> NoReturn:
    """Run the command line."""
    app()
    sys.exit(0)
