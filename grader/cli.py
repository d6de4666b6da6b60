"""The command `grader`: grade a class, show and export its results, package the grader, certify the assignment."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from grader.base.exits import Command, run
from grader.choices import (
    AsJson,
    Choice,
    Device,
    Examples,
    Excel,
    Format,
    IsolationLevel,
    Jobs,
    Katas,
    Keep,
    Part,
    Platform,
    Replay,
    Submissions,
    Tracks,
    Where,
)
from grader.pipeline.start import Start
from grader.pipeline.wanted import choose, demand_own_course, wanted
from torchkata.course import use

STOPPED = {
    Where.local: "stopped; what is graded is stored, and the same command goes on from there",
    Where.slurm: "stopped watching; the jobs go on, and the same command watches them again",
}

app = typer.Typer(
    name="grader",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Grade torchkata submissions. A student's code runs in a sandbox, never where the verdict is made.",
)


def show_version(asked: bool) -> None:
    """Print it and end, where it was asked for."""
    if asked:
        from torchkata.cli.command import version

        typer.echo(version())
        raise typer.Exit


@app.callback()
def root(
    course: Annotated[
        Path | None, typer.Option(help="The course; the nearest from here upward if not said.", metavar="DIR")
    ] = None,
    version: Annotated[  # noqa: ARG001  (the callback has printed it)
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version, and end.")
    ] = False,
) -> None:
    """Settle which course every command is about."""

    def load() -> Command:
        if course is not None:
            use(course)
        return lambda: 0

    if code := run(load):
        sys.exit(code)


@app.command()
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

    start = Start(quiet=quiet)

    def load() -> Command:
        demand_own_course(submissions)
        katas = wanted(kata or (), track or ())
        if executor is Where.local:
            start.begin_ahead("none" if isolation is Choice.none else "bwrap", choose(katas))
        start.say("importing pytest and what the course needs")
        from grader.commands.grade import grade_into
        from grader.pipeline import seed as secret
        from grader.pipeline.queue import Options

        options = Options(
            out=out,
            jobs=jobs,
            seed=secret.of(out) if seed is None else seed,
            examples=examples,
            isolation=isolation.value,
            katas=katas,
            force=force,
            quiet=quiet,
            gradescope=gradescope,
            device=device.value,
            executor=executor.value,
            slurm=tuple(slurm or ()),
            per_task=per_task,
            replay=replay,
            keep=keep.value,
        )
        return lambda: grade_into(submissions, options, start, pseudonyms, people, as_json=json)

    sys.exit(run(load, stopped=STOPPED[executor], tidy=start.close))


@app.command()
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

    Where speed was graded: DIR/<id>/speed.svg and DIR/<id>/roofline.svg.

    The page holds all names, messages and findings; a student's own page has nothing of others, and of a test only
    what its kata.toml lets students see.
    """

    def load() -> Command:
        from grader.commands.report import run_report

        return lambda: run_report(results, feedback, people, excel=excel)

    sys.exit(run(load))


@app.command()
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

    sys.exit(run(load))


@app.command()
def similar(
    submissions: Submissions,
    out: Annotated[Path, typer.Option(help="Where similar.html and similar.csv go.", metavar="DIR")],
    pairs: Annotated[int, typer.Option(min=1, help="How many pairs, the most alike.")] = 40,
    track: Tracks = None,
    kata: Katas = None,
    folders: Annotated[
        Path | None, typer.Option(help="Lay out the code for JPlag and Dolos there, too.", metavar="TO")
    ] = None,
    pseudonyms: Annotated[
        Path | None, typer.Option(help="As for `grader grade`: the key to the pseudonyms.", metavar="KEYFILE")
    ] = None,
) -> None:
    """Show whose hand-ins are more alike than others of the class, side by side; for you alone, no points depend on it.

    Compared is syntax: names, comments, layout and the order of functions play no part, nor does what the stubs have.
    """

    def load() -> Command:
        demand_own_course(submissions)
        from grader.commands.similar import Options, run_similar

        options = Options(out, wanted(kata or (), track or ()), pairs, folders, pseudonyms)
        return lambda: run_similar(submissions, options)

    sys.exit(run(load))


@app.command()
def export(
    directory: Annotated[Path, typer.Argument(help="What `grader grade` had as --out.", metavar="DIR")],
    format: Annotated[Format, typer.Option(help="Whose format.")],
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
        from grader.commands.export import Options, run_export

        options = Options(format.value, to, tuple(field or ()), people, gradebook, column)
        return lambda: run_export(directory, options)

    sys.exit(run(load))


@app.command()
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

    sys.exit(run(load))


@app.command()
def package(
    platform: Annotated[Platform, typer.Argument(help="Who runs it.")],
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
        from grader.commands.package import Options, run_package
        from grader.pipeline import seed as secret

        chosen = secret.draw() if seed is None else seed
        options = Options(source, chosen, examples, wanted(kata or (), track or ()), force)
        return lambda: run_package(platform.value, out, options)

    sys.exit(run(load))


@app.command()
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

        names = handed_out(out) if update and not kata and not track else wanted(kata or (), track or ())
        options = Options(names, language, force, update, prove, examples, notebooks, repository)
        return lambda: run_release(out, options)

    sys.exit(run(load))


new = typer.Typer(no_args_is_help=True, help="Begin a course, or a kata of a course.")
app.add_typer(new, name="new")


@new.command("course")
def new_course(
    folder: Annotated[Path, typer.Argument(help="A new directory.", metavar="DIR")],
    title: Annotated[str, typer.Option(help="What the course is called.")] = "A new course",
) -> None:
    """Write a course with one kata, which can be tested, graded and certified at once."""

    def load() -> Command:
        from grader.commands.new import new_course

        return lambda: new_course(folder, title)

    sys.exit(run(load))


@new.command("kata")
def new_kata(
    name: Annotated[str, typer.Argument(help="Its module: small letters, digits and underscores.", metavar="NAME")],
    track: Annotated[str | None, typer.Option(help="One of the course's; the first if not said.")] = None,
) -> None:
    """Write the six files of a kata that works, to be changed into what it should be. No other file is touched."""

    def load() -> Command:
        from grader.commands.new import new_kata

        return lambda: new_kata(name, track)

    sys.exit(run(load))


@app.command()
def doctor(json: AsJson = False) -> None:
    """Say what works on this machine, what does not, and what mends it.

    Exit code 0 if submissions can be graded in a sandbox, else 3.
    """

    def load() -> Command:
        from grader.commands.doctor import run_doctor

        return lambda: run_doctor(as_json=json)

    sys.exit(run(load))


@app.command()
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

    sys.exit(run(load))


@app.command()
def certify(
    jobs: Jobs = 1,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds the solution is graded under.")] = 20,
    examples: Examples = 100,
    isolation: IsolationLevel = Choice.auto,
    track: Tracks = None,
    kata: Katas = None,
    only: Annotated[
        Part | None, typer.Option(help="Prove only that the tests hold, the sandbox, or the clock.")
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

    And that no attack of the corpus gains a point, or harms the next submission, at any isolation that works here;
    nor any cheat on speed, on the CPU.

    What was proven of the zoo with the same content, versions and options is not proven again.
    """

    def load() -> Command:
        from grader.commands.certify import run_certify
        from grader.proof.proof import Options

        katas = wanted(kata or (), track or ())
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

    sys.exit(run(load))


def main() -> NoReturn:
    """Entry point."""
    app()
    sys.exit(0)
