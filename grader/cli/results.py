"""What is done with a class that is graded: `report`, `diff`, `similar`, `export`, `marks`; their options."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from grader.base.main import Command, run_command
from grader.cli.options import AsJson, Katas, Submissions, Tracks
from grader.output.formats import format_names
from grader.pipeline.selection import demand_own_course, select_names

Excel = Annotated[
    bool,
    typer.Option("--excel", help="Begin the CSV with the mark by which Excel reads names in any alphabet."),
]


def parse_format(text: str) -> str:
    """Return the name of an export format as it was typed. Raises BadParameter for any other text."""
    if text not in format_names():
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(format_names())}.")
    return text


def report(
    results: Annotated[Path, typer.Argument(help="The --out of `grader grade`.", metavar="DIR")],
    feedback: Annotated[
        Path | None,
        typer.Option(help="Write a page for each student, too: TO/<id>/feedback.html.", metavar="TO"),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option("--class", help="Tell marks: the folder that `grader marks` reads.", metavar="CLASS"),
    ] = None,
    excel: Excel = False,
) -> None:
    """Write the class as a page, DIR/report.html, from its stored results; show it, and rebuild DIR/gradebook.csv.

    Where speed was graded: DIR/<id>/roofline.svg.

    The page holds all names, messages and findings; a student's own page has nothing of others, and of a test only
    what its kata.toml lets students see.
    """

    def load() -> Command:
        from grader.commands.report import run_report

        return lambda: run_report(results, feedback, people, excel=excel)

    sys.exit(run_command(load))


def diff(
    old: Annotated[Path, typer.Argument(help="The --out of one `grader grade`.", metavar="OLD")],
    new: Annotated[Path, typer.Argument(help="The --out of another.", metavar="NEW")],
    csv: Annotated[Path | None, typer.Option(help="Write the table there, too.", metavar="PATH")] = None,
    json: AsJson = False,
) -> None:
    """Show what a regrade changed: submission, kata, points before and after, and which tests."""

    def load() -> Command:
        from grader.commands.diff import run_diff

        return lambda: run_diff(old, new, csv, as_json=json)

    sys.exit(run_command(load))


def similar(
    submissions: Submissions,
    folders: Annotated[Path, typer.Option(help="Where the code goes: TO/submissions and TO/stubs.", metavar="TO")],
    track: Tracks = None,
    kata: Katas = None,
    pseudonyms: Annotated[
        Path | None, typer.Option(help="As for `grader grade`: the key to the pseudonyms.", metavar="KEYFILE")
    ] = None,
) -> None:
    """Lay out the code of a class for compare50, JPlag or MOSS, and print the commands that compare it.

    Each submission gets a folder with its own files. The stubs lie beside them, so that a detector can leave out what
    every student was given.
    """

    def load() -> Command:
        demand_own_course(submissions)
        from grader.commands.similar import Options, run_similar

        options = Options(folders, select_names(kata or (), track or ()), pseudonyms)
        return lambda: run_similar(submissions, options)

    sys.exit(run_command(load))


def export(
    directory: Annotated[Path, typer.Argument(help="What `grader grade` had as --out.", metavar="DIR")],
    format: Annotated[
        str,
        typer.Option(help=f"Format to write: {', '.join(format_names())}.", parser=parse_format, metavar="FORMAT"),
    ],
    to: Annotated[Path, typer.Option(help="The file, or the directory for several submissions.", metavar="PATH")],
    field: Annotated[
        list[str] | None,
        typer.Option(help="What classroom50 needs and a result does not know (repeatable).", metavar="NAME=VALUE"),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option("--class", help="For the same: the folder that `grader marks` reads.", metavar="CLASS"),
    ] = None,
    gradebook: Annotated[
        Path | None, typer.Option(help="What canvas, moodle or csv has exported.", metavar="FILE")
    ] = None,
    column: Annotated[str, typer.Option(help="The one of the gradebook to fill; Moodle's is Grade.")] = "",
) -> None:
    """Write stored results in the format of a platform.

    gradescope, classroom50: PATH for one submission, PATH/<id>.json for several.

    junit: one file, with a suite for each submission and kata.

    github: Markdown for $GITHUB_STEP_SUMMARY. For a single submission, annotations are printed, too.

    canvas, moodle, csv: the gradebook that was exported from there, with the marks in one column (see `grader marks`)
    and every other byte as it was.

    A field that is not given comes from the variables of Classroom 50's runner or of GitHub Actions;
    {submission} in it stands for the id.
    """

    def load() -> Command:
        from grader.commands.export import run_export
        from grader.output.exporter import Options

        options = Options(to, tuple(field or ()), people, gradebook, column)
        return lambda: run_export(directory, format, options)

    sys.exit(run_command(load))


def marks(
    directory: Annotated[Path, typer.Argument(help="What `grader grade` had as --out.", metavar="DIR")],
    people: Annotated[Path, typer.Argument(help="A folder with class.csv and the rules.", metavar="CLASS")],
    excel: Excel = False,
) -> None:
    """Write what each in the class gets, CLASS/marks.csv: points, less what lateness takes, and what was put right.

    CLASS/class.csv: id, and where they are known name, email, lms_id, section, group, submission.

    CLASS/policy.toml: due, zone, grace_minutes, free_days, penalty_per_day, cap, closes_after_days.

    CLASS/times.csv: submission, time. CLASS/extensions.csv: id, until, reason.

    CLASS/submission_metadata.yml, of Gradescope's download, says both whose a submission is and when it came.

    CLASS/pseudonyms.json: the KEYFILE of `grader grade --pseudonyms`.

    CLASS/overrides.csv: id, points, reason, who; kata and test, where only a part is put right.

    Only class.csv must be there. Points as they were graded stay as they are.
    """

    def load() -> Command:
        from grader.commands.marks import run_marks

        return lambda: run_marks(directory, people, excel=excel)

    sys.exit(run_command(load))
