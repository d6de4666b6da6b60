"""`grader grade`: its options."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from grader.base.main import Command, run_command
from grader.cli.options import (
    AsJson,
    Choice,
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


class Where(StrEnum):
    """What grades."""

    local = "local"
    slurm = "slurm"


class Keep(StrEnum):
    """What stays of a kata that is graded again."""

    new = "new"
    better = "better"


STOPPED = {
    Where.local: "stopped; what is graded is stored, and the same command goes on from there",
    Where.slurm: "stopped watching; the jobs go on, and the same command watches them again",
}


def grade(
    submissions: Submissions,
    out: Annotated[Path, typer.Option(help="Where the results go.", metavar="DIR")],
    jobs: Jobs = 1,
    seed: Annotated[
        int | None, typer.Option(help="Of all random inputs; if not said, a secret one that DIR keeps.")
    ] = None,
    examples: Examples = 100,
    isolation: IsolationLevel = Choice.auto,
    track: Tracks = None,
    kata: Katas = None,
    force: Annotated[
        bool, typer.Option("--force", help="Grade again what has been graded, even if less is stored then.")
    ] = False,
    keep: Annotated[
        Keep, typer.Option(help="Of a kata that is graded again: the new points, or the better ones.")
    ] = Keep.new,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print errors only.")] = False,
    device: Annotated[
        Device, typer.Option(help="Grade speed, too, on this kind of device; cpu earns no points.")
    ] = Device.none,
    gradescope: Annotated[
        Path | None, typer.Option(help="Rewrite this results.json after every test (one SUBMISSION).", metavar="PATH")
    ] = None,
    executor: Annotated[Where, typer.Option(help="This machine, or a Slurm cluster that shares DIR.")] = Where.local,
    slurm: Annotated[
        list[str] | None, typer.Option(help="An option of sbatch for each task (repeatable).", metavar="KEY=VALUE")
    ] = None,
    per_task: Annotated[
        int | None, typer.Option(min=1, help="Submissions that a Slurm task grades; as it seems best if not said.")
    ] = None,
    pseudonyms: Annotated[
        Path | None,
        typer.Option(help="Results bear pseudonyms, no names; this file is the key to them.", metavar="KEYFILE"),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option("--class", help="Name the overrides there that a regrade makes needless.", metavar="CLASS"),
    ] = None,
    replay: Replay = True,
    json: AsJson = False,
) -> None:
    """Grade one or many submissions into DIR: DIR/<id>/result.json and DIR/gradebook.csv.

    Graded are the tracks that the course names, unless --track or --kata says which.

    What has been graded before with the same files, tests and options is not graded again.

    On Slurm, --jobs is how many tasks run at once, and the same command watches again the jobs of one that was stopped.
    """

    start = Startup(quiet=quiet)

    def load() -> Command:
        demand_own_course(submissions)
        katas = select_names(kata or (), track or ())
        if executor is Where.local:
            start.launch_ahead("none" if isolation is Choice.none else "bwrap", choose(katas))
        start.show("importing pytest and what the course needs")
        from grader.commands.grade import grade_into
        from grader.pipeline import seed as secret
        from grader.pipeline.queue import GradingOptions, Options

        grading = GradingOptions(
            seed=secret.load_or_draw(out) if seed is None else seed,
            examples=examples,
            isolation=isolation.value,
            katas=katas,
            device=device.value,
            replay=replay,
            keep=keep.value,
        )
        options = Options(
            grading,
            out,
            jobs=jobs,
            force=force,
            quiet=quiet,
            gradescope=gradescope,
            executor=executor.value,
            slurm=tuple(slurm or ()),
            per_task=per_task,
            pseudonyms=pseudonyms,
            people=people,
            as_json=json,
        )
        return lambda: grade_into(submissions, options, start)

    sys.exit(run_command(load, stopped=STOPPED[executor], tidy=start.close))
