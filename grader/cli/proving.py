"""Options of the commands that check the machine and the course: `doctor`, `certify`, `translations`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.base.main import Command, as_command
from grader.cli.options import AsJson, Examples, IsolationLevel, Jobs, Katas, Replay, Tracks
from grader.pipeline.selection import choose, select_names


@as_command
def doctor(
    device: Annotated[
        Literal["cpu", "cuda"] | None,
        typer.Option(help="Also measure this device's memory bandwidth and matmul speed, and compare its datasheet."),
    ] = None,
    json: AsJson = False,
) -> Command:
    """Check whether this machine can grade, and show how to install or fix what is missing.

    The exit code is 0 if submissions can be graded in a sandbox, otherwise 3.
    """
    from grader.commands.doctor import run_doctor

    return lambda: run_doctor(device, as_json=json)


@as_command
def translations(
    track: Tracks = None,
    kata: Katas = None,
    update: Annotated[
        bool,
        typer.Option("--update", help="First write the current English texts into the catalogues (the .po files)."),
    ] = False,
) -> Command:
    """List the texts whose translation is missing or outdated, for each language of the course.

    Translations are optional: the English text is shown if there is none, or if the English text has changed since it
    was translated. Use --track and --kata to limit the list.
    """
    from grader.commands.translations.update import run_translations

    katas = tuple(one.name for one in choose(kata or (), track or ()))
    return lambda: run_translations(katas, update=update)


@as_command
def certify(
    jobs: Jobs = 1,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds with which to grade the solution.")] = 20,
    examples: Examples = 100,
    isolation: IsolationLevel = "auto",
    track: Tracks = None,
    kata: Katas = None,
    only: Annotated[
        Literal["files", "zoo", "attacks", "cheats"] | None,
        typer.Option(help="Run only this part: files, zoo, attacks or cheats."),
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write the tables to this file.", metavar="FILE")] = None,
    replay: Replay = True,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Finish within minutes by using one seed and, for each wrong entry, only its test in caught_by.toml.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Repeat proofs even if their outcomes are cached.")] = False,
    write_caught_by: Annotated[
        bool,
        typer.Option(
            "--write-caught-by",
            help="For each entry that is missing from caught_by.toml, add the test that catches it.",
        ),
    ] = False,
    messages: Annotated[
        Path | None,
        typer.Option(
            help="Write the messages that students would see for each wrong entry to this directory; run no proofs.",
            metavar="DIR",
        ),
    ] = None,
) -> Command:
    """Prove that the course grades correctly.

    files: every kata has all required files and texts.

    zoo: stubs are reported as not started, the solution passes, correct variants are accepted, and wrong variants fail.

    attacks: no attack gains any points or affects the next submission, at any isolation level available on this
    machine.

    cheats: code that only pretends to be fast earns no points for speed (tested on the CPU).

    The proofs of the zoo are stored, and are repeated only if their content, versions or options change.
    """
    from grader.commands.certify import run_certify
    from grader.proof.proof import Options

    katas = select_names(kata or (), track or ())
    options = Options(
        jobs=jobs,
        seeds=seeds,
        examples=examples,
        isolation=isolation,
        katas=katas,
        markdown=markdown,
        only=only,
        quick=quick,
        force=force,
        write_caught_by=write_caught_by,
        messages=messages,
        replay=replay,
    )
    return lambda: run_certify(options)
