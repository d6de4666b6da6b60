"""The commands that grade: `grade` and `gradescope`, and `anonymize`, which comes before them."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

from grader.base.main import Command, run_command
from grader.options import Argument, GradeOptions, Layout, Option, Submissions
from grader.pipeline.selection import choose, demand_own_course, settle
from grader.pipeline.startup import Startup

STOPPED = "stopped; finished results are stored; run the same command again to continue"
STOPPED_WATCHING = "stopped watching; the jobs keep running; run the same command again to watch them"


def grade(submissions: Submissions, options: GradeOptions) -> NoReturn:
    """Grade one or many submissions and write DIR/<id>/result.json and DIR/gradebook.csv.

    Each SUBMISSION is one submission. To grade a class that was downloaded from a platform, name the platform with
    --layout.

    Submissions that have already been graded with the same files, tests and options are skipped.

    On Slurm, --jobs is the maximum number of tasks that run at once. Run the same command again to resume watching its
    jobs.
    """
    start = Startup(quiet=False)

    def load() -> Command:
        demand_own_course(submissions)
        settled = settle(options)
        if not settled.slurm:
            launch_ahead(settled, start)
        start.show("importing pytest and the course's libraries")
        from grader.commands.grade import run_grade

        return lambda: run_grade(submissions, settled, start)

    sys.exit(run_command(load, stopped=STOPPED_WATCHING if options.slurm else STOPPED, tidy=start.close))


def gradescope(
    submission: Annotated[Path, Argument("Directory of the submission.", "SUBMISSION")],
    report: Annotated[Path, Argument("Path of the results.json.", "RESULTS")],
    options: GradeOptions,
) -> NoReturn:
    """Grade one submission on Gradescope, and update its results.json after every test.

    The package that `grader package gradescope` writes runs this command.
    """
    start = Startup()

    def load() -> Command:
        settled = settle(options)
        launch_ahead(settled, start)
        from grader.commands.gradescope import run_gradescope

        return lambda: run_gradescope(submission, report, settled, start)

    sys.exit(run_command(load, stopped=STOPPED, tidy=start.close))


def launch_ahead(options: GradeOptions, start: Startup) -> None:
    """Launch a sandbox, which imports its modules while this process imports those of the command."""
    start.launch_ahead("none" if options.isolation == "none" else "bwrap", choose(options.katas), options.examples)


def anonymize(
    given: Annotated[Path, Argument("Folder of a class, as for `grader grade --layout`.", "IN")],
    out: Annotated[Path, Option("Directory to create.", "OUT")],
    key: Annotated[Path, Option("JSON file that maps the new names to the real ones. Do not share it.", "KEYFILE")],
    layout: Annotated[
        Layout, Option("Platform that IN was downloaded from (folders: one for each student).")
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
