"""The options of commands. Each is declared once, here or in `grader.cli`, by the annotation of a field or parameter.

`grader.cli.declare` makes the command line from these declarations: `Annotated[int, Option("Number of …")]`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from grader.sandbox.launch import Isolation

STORED = -1  # stands for the secret seed that is stored in the results directory


@dataclass(frozen=True)
class Option:
    """An option. Its name, type and default are those of the parameter."""

    help: str
    metavar: str | None = None
    flag: str = ""  # the option, if it does not have the name of the parameter
    least: int | None = None
    otherwise: str = ""  # what the help says instead of the default


class Argument(Option):
    """A positional argument."""


Layout: TypeAlias = Literal["canvas", "moodle", "gradescope", "github", "folders"]
DeviceKind: TypeAlias = Literal["none", "cpu", "cuda"]  # the kind of device used for speed grading

AsJson = Annotated[bool, Option("Print a JSON object to standard output, the rest to standard error.", flag="--json")]
Examples = Annotated[int, Option("Number of random inputs per property.", least=1)]
IsolationLevel = Annotated[
    Isolation, Option("Isolation of student code. auto: bwrap if it works here, otherwise none, with a warning.")
]
Jobs = Annotated[
    int, Option("Number of submissions to grade in parallel.", least=1, otherwise="what `grader doctor` names")
]
Katas = Annotated[
    tuple[str, ...],
    Option("Katas or tracks, such as linear,scale, or all.", "NAMES", flag="--kata", otherwise="the graded tracks"),
]
Submissions = Annotated[
    tuple[Path, ...],
    Argument(
        "Submissions: directories, archives (.zip, .tar, .tar.gz, .tar.xz, .tar.bz2) or files. With --layout: folders "
        "of classes.",
        "SUBMISSION...",
    ),
]
Accept = Annotated[bool, Option("Also use results with inconclusive tests (0 points).", flag="--accept-inconclusive")]


@dataclass(frozen=True, kw_only=True)
class GradeOptions:
    """The options of `grader grade`. These fields are its command line, and tasks on a cluster get all of them."""

    out: Annotated[Path, Option("Directory to write the results to.", "DIR")] = Path("results")
    layout: Annotated[
        Layout | None,
        Option(
            "What SUBMISSION is: a class, as downloaded from this platform (folders: one folder or archive for each "
            "student). Without --layout, it is one submission."
        ),
    ] = None
    katas: Katas = ()
    jobs: Jobs = 0
    device: Annotated[
        DeviceKind,
        Option("Also grade speed on this device (no points on cpu, or if --isolation auto falls back to none)."),
    ] = "none"
    slurm: Annotated[
        tuple[str, ...],
        Option(
            "Grade on a Slurm cluster that can access DIR, and pass this option to sbatch (repeatable). per-task=N: "
            "grade N submissions per task. default: pass no option.",
            "KEY=VALUE",
        ),
    ] = ()
    again: Annotated[bool, Option("Grade again even if there is a result already, or a more complete one.")] = False
    keep: Annotated[Literal["new", "better"], Option("Which points to keep when a kata is graded again.")] = "new"
    examples: Examples = 100
    seed: Annotated[
        int, Option("Seed for all random inputs.", least=0, otherwise="a secret seed that is stored in DIR")
    ] = STORED
    isolation: IsolationLevel = "auto"
    as_json: AsJson = False
    since_ns: int = 0  # grade results from before this time again; in nanoseconds, by the file system's clock
    began_ns: int = 0  # grade results with a waived test from before this time again; 0: grade all of them again

    @property
    def alone(self) -> bool:
        """Whether no other process writes to `out` at the same time."""
        return not self.slurm

    def digest_judge(self, kata: str) -> str:
        """Return the digest of everything that judges a kata with these options."""
        from grader.results.dependencies import digest_kata

        return digest_kata(kata, self.seed, self.examples, self.isolation)


@dataclass(frozen=True, kw_only=True)
class CertifyOptions:
    """The options of `grader certify`. These fields are its command line."""

    katas: Katas = ()
    jobs: Jobs = 0
    only: Annotated[
        Literal["files", "zoo", "messages"] | None,
        Option(
            "Run only this part: files or zoo. messages: prove nothing; write the messages that students would see for "
            "each wrong entry to the directory PATH."
        ),
    ] = None
    quick: Annotated[
        bool,
        Option("Finish much earlier by using one seed and, for each wrong entry, only its test in caught_by.toml."),
    ] = False
    again: Annotated[bool, Option("Repeat proofs even if their outcomes are cached.")] = False
    out: Annotated[Path | None, Option("Also write the tables to this Markdown file.", "PATH")] = None
    seeds: Annotated[int, Option("Number of seeds with which to grade the solution.", least=1)] = 20
    examples: Examples = 100
    isolation: IsolationLevel = "auto"


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The options of `grader export`. These fields are its command line."""

    format: Annotated[str, Option("Output format (see above).", "FORMAT")]
    out: Annotated[Path, Option("Output file, or output directory if there are several submissions.", "PATH")]
    people: Annotated[
        Path | None,
        Option(
            "Folder with class.csv and waive.toml, as for `grader marks` (required by canvas, moodle and csv).",
            "CLASS",
            flag="--class",
        ),
    ] = None
    gradebook: Annotated[
        Path | None, Option("Gradebook that was exported from the platform (for canvas, moodle and csv).", "FILE")
    ] = None
    column: Annotated[str, Option("Gradebook column to fill in (default for moodle: Grade).")] = ""
    force: Annotated[bool, Option("Also change cells that contain another value, such as EX (excused).")] = False
    fields: Annotated[
        tuple[str, ...],
        Option(
            "Set a field that is missing from the results (for classroom50, repeatable).", "NAME=VALUE", flag="--field"
        ),
    ] = ()
    accept: Accept = False


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """The options of `grader release`. These fields are its command line."""

    out: Annotated[Path, Option("Directory to create, or an existing release with --update or --force.", "DIR")]
    katas: Katas = ()
    update: Annotated[bool, Option("Update everything in an existing release except assignment/.")] = False
    force: Annotated[bool, Option("Overwrite an existing release in which no stub has been edited.")] = False
    language: Annotated[
        str | None, Option("Language of the docstrings in the stubs (default: the course's first language).")
    ] = None
    notebooks: Annotated[bool, Option("Also write one notebook per track, for Jupyter and Colab.")] = False
    repository: Annotated[
        str | None, Option("With --notebooks: URL of the repository from which Colab clones the handout.", "URL")
    ] = None
    prove: Annotated[bool, Option("First run the handout's tests on the stubs and on the reference solution.")] = False
    examples: Annotated[int, Option("Number of random inputs per property, for --prove.", least=1)] = 25


@dataclass(frozen=True, kw_only=True)
class PackageOptions:
    """The options of `grader package`. These fields are its command line."""

    out: Annotated[Path, Option("Path of the output: a .zip file for gradescope, otherwise a directory.", "OUT")]
    katas: Katas = ()
    source: Annotated[
        str | None, Option("Fetch the grader from this repository instead of including a copy.", "URL@COMMIT")
    ] = None
    require: Annotated[
        float | None, Option("For github and gitlab: points below which the job fails (default: all points).", least=0)
    ] = None
    force: Annotated[bool, Option("Overwrite OUT if it exists.")] = False
    examples: Examples = 100
    seed: Annotated[
        int | None,
        Option(
            "Seed for all random inputs (default: a new secret seed, or one per run if students can read the package).",
            least=0,
        ),
    ] = None
