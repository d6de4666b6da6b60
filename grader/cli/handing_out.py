"""What others get or begin with: `package`, `release`, `new`; their options."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from grader.base.main import Command, run_command
from grader.cli.options import Examples, Katas, Tracks
from grader.pipeline.selection import select_names


def platform_names() -> list[str]:
    """Return the names of the platforms; none in a packaged grader, which packages nothing."""
    files = Path(__file__).parents[1] / "commands/package/files"
    return sorted(path.parent.name for path in files.glob("*/platform.toml"))


def parse_platform(text: str) -> str:
    """Return the name of a platform as it was typed. Raises BadParameter for any other text."""
    if text not in platform_names():
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(platform_names())}.")
    return text


def package(
    platform: Annotated[
        str,
        typer.Argument(
            help=f"Platform that runs the grader: {', '.join(platform_names())}.",
            parser=parse_platform,
            metavar="PLATFORM",
        ),
    ],
    out: Annotated[Path, typer.Argument(help="A .zip for gradescope, else a directory.", metavar="OUT")],
    source: Annotated[
        str | None,
        typer.Option(help="Fetch the grader from this repository instead of packing a copy.", metavar="URL@COMMIT"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of all random inputs; if not said, a secret one.")] = None,
    examples: Examples = 100,
    track: Tracks = None,
    kata: Katas = None,
    force: Annotated[bool, typer.Option("--force", help="Write into an OUT that is not empty.")] = False,
) -> None:
    """Write what a platform takes as it is: the grader, and the files that the platform runs.

    gradescope: a zip to upload.

    github: what to add to the repository that students start from.

    classroom50: what to add to the classroom's repository.
    """

    def load() -> Command:
        from grader.commands.package.write import Options, run_package
        from grader.pipeline import seed as secret

        chosen = secret.draw() if seed is None else seed
        options = Options(source, chosen, examples, select_names(kata or (), track or ()), force)
        return lambda: run_package(platform, out, options)

    sys.exit(run_command(load))


def release(
    out: Annotated[Path, typer.Argument(help="A new directory, or one that an earlier release has written.")],
    track: Tracks = None,
    kata: Katas = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over an earlier release whose stubs are untouched.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Bring an earlier release up to date: all but assignment/.")
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="Run its tests first: on the stubs, and with the solution in their place.")
    ] = False,
    examples: Annotated[int, typer.Option(min=1, help="Random inputs per property, for --prove.")] = 25,
    language: Annotated[
        str | None, typer.Option(help="What stubs ask for in this language, too; the course's first one unless given.")
    ] = None,
    notebooks: Annotated[
        bool, typer.Option("--notebooks", help="Write a notebook for each track, too, for Jupyter and Colab.")
    ] = False,
    repository: Annotated[
        str | None, typer.Option(help="For --notebooks: where Colab clones the handout from.", metavar="URL")
    ] = None,
) -> None:
    """Write what students start from: stubs, tests, oracle, the command `kata`, and nothing that stays with you.

    The tracks that are graded, unless --track or --kata says which; what they build on comes along. With --update,
    those that were released, unless said, and in their language.
    """

    def load() -> Command:
        from grader.commands.release import Options, handed_out, run_release

        names = handed_out(out) if update and not kata and not track else select_names(kata or (), track or ())
        options = Options(names, language, force, update, prove, examples, notebooks, repository)
        return lambda: run_release(out, options)

    sys.exit(run_command(load))


def new_course(
    folder: Annotated[Path, typer.Argument(help="A new directory.", metavar="DIR")],
    title: Annotated[str, typer.Option(help="What the course is called.")] = "A new course",
) -> None:
    """Write a course with one kata, which can be tested, graded and certified at once."""

    def load() -> Command:
        from grader.commands.new import new_course

        return lambda: new_course(folder, title)

    sys.exit(run_command(load))


def new_kata(
    name: Annotated[str, typer.Argument(help="Its module: small letters, digits and underscores.", metavar="NAME")],
    track: Annotated[str | None, typer.Option(help="One of the course's; the first if not said.")] = None,
) -> None:
    """Write the six files of a kata that works, to be changed into what it should be. No other file is touched."""

    def load() -> Command:
        from grader.commands.new import new_kata

        return lambda: new_kata(name, track)

    sys.exit(run_command(load))
