"""Options of the commands that check the machine and the course: `doctor`, `certify`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.base.main import Command, as_command
from grader.cli.options import AsJson, Examples, IsolationLevel, Jobs, Katas, Tracks
from grader.pipeline.selection import select_names


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
def certify(
    jobs: Jobs = 1,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds with which to grade the solution.")] = 20,
    examples: Examples = 100,
    isolation: IsolationLevel = "auto",
    track: Tracks = None,
    kata: Katas = None,
    only: Annotated[
        Literal["files", "zoo"] | None,
        typer.Option(help="Run only this part: files or zoo."),
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write the tables to this file.", metavar="FILE")] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Finish much earlier by using one seed and, for each wrong entry, only its test in caught_by.toml.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Repeat proofs even if their outcomes are cached.")] = False,
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
    For each wrong variant that is missing from caught_by.toml, certify searches for the test that catches it, and adds
    it.

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
        messages=messages,
    )
    return lambda: run_certify(options)
