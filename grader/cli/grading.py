"""Options of the commands that grade: `grade` and `gradescope`, and `anonymize`, which comes before them."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.base.main import Command, as_command, run_command
from grader.cli.options import (
    AsJson,
    Device,
    Examples,
    IsolationLevel,
    Jobs,
    Katas,
    LayoutOfClass,
    Submissions,
    Tracks,
)
from grader.pipeline.layouts import Layout
from grader.pipeline.selection import choose, demand_own_course, select_names
from grader.pipeline.startup import Startup

STOPPED = {
    "local": "stopped; finished results are stored; run the same command again to continue",
    "slurm": "stopped watching; the jobs keep running; run the same command again to watch them",
}


def grade(
    submissions: Submissions,
    out: Annotated[Path, typer.Option(help="Directory to write the results to.", metavar="DIR")],
    layout: LayoutOfClass = None,
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
    executor: Annotated[
        Literal["local", "slurm"],
        typer.Option(help="Grade on this machine, or on a Slurm cluster that can access DIR."),
    ] = "local",
    slurm: Annotated[
        list[str] | None,
        typer.Option(
            help="Option to pass to sbatch for each task, or per-task=N for N submissions per task (repeatable).",
            metavar="KEY=VALUE",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Grade one or many submissions and write DIR/<id>/result.json and DIR/gradebook.csv.

    Each SUBMISSION is one submission. To grade a class that was downloaded from a platform, name the platform with
    --layout.

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
            start.launch_ahead("none" if isolation == "none" else "bwrap", choose(katas), examples)
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
            keep=keep,
        )
        options = Options(
            grading,
            out,
            layout=layout,
            jobs=jobs,
            force=force,
            quiet=quiet,
            executor=executor,
            slurm=tuple(slurm or ()),
            as_json=json,
        )
        return lambda: grade_into(submissions, options, start)

    sys.exit(run_command(load, stopped=STOPPED[executor], tidy=start.close))


@as_command
def anonymize(
    given: Annotated[Path, typer.Argument(help="Folder of a class, as for `grader grade --layout`.", metavar="IN")],
    out: Annotated[Path, typer.Argument(help="Directory to create.", metavar="OUT")],
    key: Annotated[
        Path,
        typer.Argument(help="JSON file that maps the new names to the real ones. Do not share it.", metavar="KEYFILE"),
    ],
    layout: Annotated[
        Layout, typer.Option(help="Platform that IN was downloaded from (folders: one for each student).")
    ] = "folders",
) -> Command:
    """Copy the submissions of a class under new names. Then grade OUT instead of IN.

    Only the Python files that `grader grade` reads are copied, without the folders and archives around them.

    Names inside the files and the names of files are not changed: a student who signs a comment can be recognized.

    If KEYFILE exists, its submissions keep their new names, and others are added.

    `grader marks` and `grader report --class` find the people if CLASS/pseudonyms.json is a copy of KEYFILE.
    """
    demand_own_course([given])
    from grader.commands.anonymize import run_anonymize

    return lambda: run_anonymize(given, out, key, layout)


def gradescope(
    submission: Annotated[Path, typer.Argument(help="Directory of the submission.", metavar="SUBMISSION")],
    report: Annotated[Path, typer.Argument(help="Path of the results.json.", metavar="RESULTS")],
    out: Annotated[Path, typer.Option(help="Directory to write the result to.", metavar="DIR")],
    seed: Annotated[int, typer.Option(help="Seed for all random inputs.")],
    examples: Examples = 100,
    isolation: IsolationLevel = "auto",
    kata: Katas = None,
    device: Annotated[Device, typer.Option(help="Also grade speed on this device.")] = "none",
) -> None:
    """Grade one submission on Gradescope, and update its results.json after every test.

    The package that `grader package gradescope` writes runs this command.
    """
    start = Startup()

    def load() -> Command:
        katas = select_names(kata or (), ())
        start.launch_ahead("none" if isolation == "none" else "bwrap", choose(katas), examples)
        from grader.commands.grade import grade_live
        from grader.pipeline.queue import GradingOptions, Options

        options = Options(GradingOptions(seed, examples, isolation, katas, device), out)
        return lambda: grade_live(submission, report, options, start)

    sys.exit(run_command(load, stopped=STOPPED["local"], tidy=start.close))
