"""The commands that process results: `report`, `diff`, `export`, `marks`."""

from pathlib import Path
from typing import Annotated

from grader.base.main import Command
from grader.options import Accept, Argument, AsJson, ExportOptions, Option

ResultsDir = Annotated[Path, Argument("Results directory (the path passed to `grader grade --out`).", "DIR")]
Excel = Annotated[bool, Option("Add a byte order mark to the CSV file so that Excel reads it as UTF-8.")]


def report(
    results: ResultsDir,
    out: Annotated[Path | None, Option("Also write a page for each student to TO/<id>/feedback.html.", "TO")] = None,
    people: Annotated[
        Path | None, Option("Also show marks, computed from this folder as by `grader marks`.", "CLASS", flag="--class")
    ] = None,
    excel: Excel = False,
) -> Command:
    """Print the results and write DIR/report.html and DIR/gradebook.csv.

    The report is for instructors: it contains all names, messages and findings. The feedback page of a student contains
    only their own results, and shows details of hidden tests only if kata.toml allows it.
    """
    from grader.commands.report import run_report

    return lambda: run_report(results, out, people, excel=excel)


def diff(
    old: Annotated[Path, Argument("Results directory of the earlier grading.", "OLD")],
    new: Annotated[Path | None, Argument("Results directory of the later grading.", "NEW")] = None,
    out: Annotated[Path | None, Option("Also write the table to this CSV file.", "PATH")] = None,
    as_json: AsJson = False,
) -> Command:
    """Compare two gradings of the same class, and show the points and outcomes of every test that changed.

    `grader diff DIR` compares the results in DIR with those that the latest regrade replaced (kept in DIR/.previous).
    """
    from grader.commands.diff import run_diff

    return lambda: run_diff(old, new, out, as_json=as_json)


def export(directory: ResultsDir, options: ExportOptions) -> Command:
    """Convert stored results to the format of a platform.

    gradescope, classroom50: writes PATH for one submission, or PATH/<id>.json for several.

    junit: writes one file with a suite for each submission and kata.

    github: writes Markdown for $GITHUB_STEP_SUMMARY; for a single submission it also prints annotations.

    canvas, moodle, csv: fills one column of an exported gradebook with marks (see `grader marks`) and leaves the rest
    unchanged.

    sources: writes PATH/submissions/<id>/ with the code that differs from the stubs, and PATH/stubs/, and prints the
    commands with which compare50, JPlag or MOSS compare it.

    For classroom50, fields that are not given with --field are taken from the environment variables of its runner or of
    GitHub Actions. {submission} in a field is replaced by the id of the submission.
    """
    from grader.commands.export import run_export

    return lambda: run_export(directory, options)


def marks(
    directory: ResultsDir,
    people: Annotated[Path, Argument("Folder that contains class.csv and the grading rules.", "CLASS")],
    source: Annotated[
        Path | None,
        Option(
            "First make class.csv from a gradebook (Canvas, Moodle) or GitHub's classroom_roster.csv.",
            "FILE",
            flag="--from",
        ),
    ] = None,
    accept: Accept = False,
    excel: Excel = False,
) -> Command:
    """Compute marks from points, late penalties and manual overrides, and write CLASS/marks.csv.

    CLASS/class.csv has the column id, and optionally name, email, lms_id, section, group, submission.

    CLASS/policy.toml has the keys due, zone, grace_minutes, free_days, penalty_per_day, cap, closes_after_days, out_of
    (the maximum of a mark), only_done (true: a kata earns points only if all of its tests pass).

    CLASS/times.csv has the columns submission and time; CLASS/extensions.csv has id, until, reason.

    CLASS/worksheet.csv is Moodle's grading worksheet and contains submission times.

    CLASS/submission_metadata.yml is part of Gradescope's download and contains submitters and submission times.

    CLASS/pseudonyms.json is the KEYFILE of `grader anonymize`.

    CLASS/overrides.csv has the columns id, points, reason, who. Add kata and test to override only the points of a
    test.

    CLASS/waive.toml has lines such as "linear.test_x" = "full" (everybody gets the points of the test) or "drop" (it
    counts for nobody). `grader report --class` and `grader export --class` apply it, too.

    Only class.csv is required. The stored results are not changed.
    """
    from grader.commands.marks import run_marks

    return lambda: run_marks(directory, people, source, accept=accept, excel=excel)
