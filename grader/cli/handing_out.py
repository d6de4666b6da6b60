"""Options of the commands that create files for others: `package`, `release`, `new`."""

from pathlib import Path
from typing import Annotated

import typer

from grader.base.main import Command, as_command
from grader.cli.options import Examples, Katas, Tracks
from grader.pipeline.selection import select_names


def platform_names() -> list[str]:
    """Return the names of the platforms. A packaged grader has none, because it cannot package itself."""
    files = Path(__file__).parents[1] / "commands/package/files"
    return sorted(path.parent.name for path in files.glob("*/platform.toml"))


def parse_platform(text: str) -> str:
    """Return `text` if it is the name of a platform. Otherwise raise BadParameter."""
    if text not in platform_names():
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(platform_names())}.")
    return text


@as_command
def package(
    platform: Annotated[
        str,
        typer.Argument(
            help=f"Platform on which the grader will run: {', '.join(platform_names())}.",
            parser=parse_platform,
            metavar="PLATFORM",
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(help="Path of the output: a .zip file for gradescope, otherwise a directory.", metavar="OUT"),
    ],
    source: Annotated[
        str | None,
        typer.Option(help="Fetch the grader from this repository instead of including a copy.", metavar="URL@COMMIT"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed for all random inputs (default: a new secret seed, or one per run if students can read "
            "the package)."
        ),
    ] = None,
    require: Annotated[
        float | None,
        typer.Option(min=0, help="For github and gitlab: points below which the job fails (default: all points)."),
    ] = None,
    examples: Examples = 100,
    track: Tracks = None,
    kata: Katas = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT if it exists.")] = False,
) -> Command:
    """Package the grader for a platform.

    gradescope: OUT is a zip file to upload as the autograder.

    github, gitlab: OUT contains the files to add to the template repository for students.

    github-class, gitlab-class: OUT contains the files for a private repository of the staff, in which a scheduled job
    grades the repositories of all students.

    classroom50: OUT contains the files to add to the repository of the classroom.
    """
    from grader.commands.package.write import Grading, run_package

    grading = Grading(select_names(kata or (), track or ()), examples, seed, require)
    return lambda: run_package(platform, out, grading, source, force=force)


@as_command
def release(
    out: Annotated[Path, typer.Argument(help="Directory to create, or an existing release with --update or --force.")],
    track: Tracks = None,
    kata: Katas = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing release in which no stub has been edited.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Update everything in an existing release except assignment/.")
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="First run the handout's tests on the stubs and on the reference solution.")
    ] = False,
    examples: Annotated[int, typer.Option(min=1, help="Number of random inputs per property, for --prove.")] = 25,
    language: Annotated[
        str | None,
        typer.Option(help="Language of the docstrings in the stubs (default: the course's first language)."),
    ] = None,
    notebooks: Annotated[
        bool, typer.Option("--notebooks", help="Also write one notebook per track, for Jupyter and Colab.")
    ] = False,
    repository: Annotated[
        str | None,
        typer.Option(
            help="With --notebooks: URL of the repository from which Colab clones the handout.", metavar="URL"
        ),
    ] = None,
) -> Command:
    """Write the handout for students: stubs, tests, oracle and the `kata` command, without solutions or the zoo.

    The handout contains the graded tracks (or those selected by --track or --kata), including the katas that they build
    on. --update keeps the katas and language of the earlier release unless you specify others.
    """
    from grader.commands.release.command import Options, find_released, run_release

    names = find_released(out) if update and not kata and not track else select_names(kata or (), track or ())
    options = Options(names, language, force, update, prove, examples, notebooks, repository)
    return lambda: run_release(out, options)


@as_command
def new_course(
    folder: Annotated[Path, typer.Argument(help="Directory to create.", metavar="DIR")],
    title: Annotated[str, typer.Option(help="Title of the course.")] = "A new course",
) -> Command:
    """Create a course with one working kata, ready to test, grade and certify."""
    from grader.commands.new.write import new_course

    return lambda: new_course(folder, title)


@as_command
def new_kata(
    name: Annotated[
        str,
        typer.Argument(help="Name of the kata's module (lowercase letters, digits and underscores).", metavar="NAME"),
    ],
    track: Annotated[
        str | None, typer.Option(help="Track to add the kata to (default: the course's first track).")
    ] = None,
    kind: Annotated[str, typer.Option(help="What students write: function or class.")] = "function",
) -> Command:
    """Create the files of a working example kata for you to edit. Existing files are never modified.

    The kinds are a function and a class with state.
    """
    from grader.commands.new.write import new_kata

    return lambda: new_kata(name, track, kind)
