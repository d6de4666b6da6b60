"""Options of `grader grade`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.base.main import Command, run_command
from grader.cli.options import (
    AsJson,
    Device,
    Examples,
    IsolationLevel,
    Jobs,
    Katas,
    Replay,
    Submissions,
    Tracks,
)
from grader.pipeline.selection import choose, demand_own_course, select_names
from grader.pipeline.startup import Startup

STOPPED = {
    "local": "stopped; finished results are stored; run the same command again to continue",
    "slurm": "stopped watching; the jobs keep running; run the same command again to watch them",
}


def grade(
    submissions: Submissions,
    out: Annotated[Path, typer.Option(help="Directory to write the results to.", metavar="DIR")],
    jobs: Jobs = 1,
    seed: Annotated[
        int | None, typer.Option(help="Seed for all random inputs (default: a secret seed that is stored in DIR).")
    ] = None,
    examples: Examples = 100,
    isolation: IsolationLevel = "auto",
    track: Tracks = None,
    kata: Katas = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Grade again even if a result exists or the new result would be less complete."),
    ] = False,
    keep: Annotated[
        Literal["new", "better"], typer.Option(help="Which points to keep when a kata is graded again.")
    ] = "new",
    quiet: Annotated[bool, typer.Option("--quiet", help="Only print errors.")] = False,
    device: Annotated[
        Device,
        typer.Option(
            help="Also grade speed on this device (no points on cpu, or if --isolation auto falls back to none)."
        ),
    ] = "none",
    gradescope: Annotated[
        Path | None,
        typer.Option(
            help="Path of the results.json for Gradescope, updated after every test (single submission only).",
            metavar="PATH",
        ),
    ] = None,
    executor: Annotated[
        Literal["local", "slurm"],
        typer.Option(help="Grade on this machine, or on a Slurm cluster that can access DIR."),
    ] = "local",
    slurm: Annotated[
        list[str] | None, typer.Option(help="Option to pass to sbatch for each task (repeatable).", metavar="KEY=VALUE")
    ] = None,
    per_task: Annotated[
        int | None,
        typer.Option(min=1, help="Number of submissions per Slurm task (default: as many as take about five minutes)."),
    ] = None,
    pseudonyms: Annotated[
        Path | None,
        typer.Option(
            help="Pseudonymize the results, and store the mapping to real names in KEYFILE.", metavar="KEYFILE"
        ),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option(
            "--class",
            help="Report overrides in CLASS that are obsolete because of the new results.",
            metavar="CLASS",
        ),
    ] = None,
    replay: Replay = True,
    json: AsJson = False,
) -> None:
    """Grade one or many submissions and write DIR/<id>/result.json and DIR/gradebook.csv.

    By default, the graded tracks of the course are graded. Use --track or --kata to select others.

    Submissions that have already been graded with the same files, tests and options are skipped.

    On Slurm, --jobs is the maximum number of tasks that run at once. Run the same command again to resume watching its
    jobs.
    """
    start = Startup(quiet=quiet)

    def load() -> Command:
        demand_own_course(submissions)
        katas = select_names(kata or (), track or ())
        if executor == "local":
            start.launch_ahead("none" if isolation == "none" else "bwrap", choose(katas))
        start.show("importing pytest and the course's libraries")
        from grader.commands.grade import grade_into
        from grader.pipeline import seed as secret
        from grader.pipeline.queue import GradingOptions, Options

        grading = GradingOptions(
            seed=secret.load_or_draw(out) if seed is None else seed,
            examples=examples,
            isolation=isolation,
            katas=katas,
            device=device,
            replay=replay,
            keep=keep,
        )
        options = Options(
            grading,
            out,
            jobs=jobs,
            force=force,
            quiet=quiet,
            gradescope=gradescope,
            executor=executor,
            slurm=tuple(slurm or ()),
            per_task=per_task,
            pseudonyms=pseudonyms,
            people=people,
            as_json=json,
        )
        return lambda: grade_into(submissions, options, start)

    sys.exit(run_command(load, stopped=STOPPED[executor], tidy=start.close))
