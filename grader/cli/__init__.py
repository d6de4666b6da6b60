"""Defines the command line of `grader`. The commands are implemented in `grader.commands`."""

import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from grader.base.main import Command, run_command
from grader.base.text import printable
from grader.cli.declare import declare
from grader.cli.grading import anonymize, grade, gradescope
from grader.cli.handing_out import new_course, new_kata, package, release
from grader.cli.proving import certify, doctor
from grader.cli.removed import find_removed
from grader.cli.results import diff, export, marks, report
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


UsageError: Any = typer.BadParameter.__base__  # typer does not export it


class Grader(TyperGroup):
    """The group of all commands, which also knows the removed ones."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run the command line, and exit. Print an error in one line."""
        try:
            sys.exit(super().main(*args, **settings | {"standalone_mode": False}))
        except UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                print(error.ctx.get_help())
            else:
                print(f"grader: {printable(error.format_message())}", file=sys.stderr)
            sys.exit(2)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command. If it or one of its options was removed, print what to use instead and exit."""
        if line := find_removed(args):
            print(f"grader: {line}", file=sys.stderr)
            sys.exit(2)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="grader",
    cls=Grader,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Grade torchkata submissions. Student code runs in a sandbox, in a separate process from the grader.",
)
app.callback()(root)
PANELS = {
    "Every day": (grade, report, export, release),
    "Sometimes": (diff, marks, package, doctor, anonymize),
    "For authors of a course": (certify,),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(declare(command))
app.command(hidden=True)(declare(gradescope))

new = typer.Typer(no_args_is_help=True, help="Create a course or a kata from a template.")
new.command("course")(declare(new_course))
new.command("kata")(declare(new_kata))
app.add_typer(new, name="new", rich_help_panel="For authors of a course")


def main() -> NoReturn:
    """Run the command line."""
    app()
    sys.exit(0)
