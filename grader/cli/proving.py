"""Whether machine and assignment are fit to grade: `doctor`, `calibrate`, `certify`; their options."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from grader.base.main import Command, run_command
from grader.cli.options import AsJson, Choice, Device, Examples, IsolationLevel, Jobs, Katas, Replay, Tracks
from grader.pipeline.selection import choose, select_names


class Part(StrEnum):
    """A part of what certify proves."""

    files = "files"
    zoo = "zoo"
    attacks = "attacks"
    cheats = "cheats"


def doctor(json: AsJson = False) -> None:
    """Say what works on this machine, what does not, and what mends it.

    Exit code 0 if submissions can be graded in a sandbox, else 3.
    """

    def load() -> Command:
        from grader.commands.doctor import run_doctor

        return lambda: run_doctor(as_json=json)

    sys.exit(run_command(load))


def calibrate(
    device: Annotated[Device | None, typer.Option(help="A GPU if there is one, if nothing is said.")] = None,
    to: Annotated[Path | None, typer.Option(help="Write the figures there, too, as JSON.", metavar="FILE")] = None,
) -> None:
    """Measure what this machine's device reaches: products by dtype, memory. Shown beside its datasheet, and stored.

    Where a stored figure says that the device has become much slower, `grader grade --device` grades nobody's speed.
    """

    def load() -> Command:
        from grader.commands.calibrate import Options, run_calibrate

        options = Options(device.value if device else None, to)
        return lambda: run_calibrate(options)

    sys.exit(run_command(load))


def untranslated(track: Tracks = None, kata: Katas = None) -> None:
    """List the texts of katas that nobody has translated yet, for each language of the course beside English.

    A translation is optional: students read a text without one in English. All katas, unless --track or --kata says
    which.
    """

    def load() -> Command:
        from grader.commands.translations import run_untranslated

        katas = tuple(one.name for one in choose(kata or (), track or ()))
        return lambda: run_untranslated(katas)

    sys.exit(run_command(load))


def certify(
    jobs: Jobs = 1,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds the solution is graded under.")] = 20,
    examples: Examples = 100,
    isolation: IsolationLevel = Choice.auto,
    track: Tracks = None,
    kata: Katas = None,
    only: Annotated[
        Part | None, typer.Option(help="Prove only that the files are complete, the tests, the sandbox, or the clock.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables there, too.", metavar="FILE")] = None,
    replay: Replay = True,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="In minutes: one seed, each wrong one by the test that is known to catch it."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Prove again what was proven with the same content.")] = False,
    write_caught_by: Annotated[
        bool,
        typer.Option("--write-caught-by", help="Write into wrong.toml which test catches an entry that doesn't say."),
    ] = False,
    messages: Annotated[
        Path | None,
        typer.Option(help="Prove nothing: write what a student reads of each wrong entry.", metavar="DIR"),
    ] = None,
) -> None:
    """Prove the assignment: stubs not started, solution done, the zoo's right ones accepted, its wrong ones caught.

    And that each kata has all files and texts that it needs: what is missing is listed, a line each.

    And that no attack of the corpus gains a point, or harms the next submission, at any isolation that works here;
    nor any cheat on speed, on the CPU.

    What was proven of the zoo with the same content, versions and options is not proven again.
    """

    def load() -> Command:
        from grader.commands.certify import run_certify
        from grader.proof.proof import Options

        katas = select_names(kata or (), track or ())
        options = Options(
            jobs=jobs,
            seeds=seeds,
            examples=examples,
            isolation=isolation.value,
            katas=katas,
            markdown=markdown,
            only=only.value if only else None,
            quick=quick,
            force=force,
            write_caught_by=write_caught_by,
            messages=messages,
            replay=replay,
        )
        return lambda: run_certify(options)

    sys.exit(run_command(load))
