"""What the options of the command `grader` can be."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """Whose results an export is."""

    gradescope = "gradescope"
    classroom50 = "classroom50"
    github = "github"
    junit = "junit"
    canvas = "canvas"
    moodle = "moodle"
    csv = "csv"


class Platform(StrEnum):
    """Where a packaged grader runs."""

    gradescope = "gradescope"
    classroom50 = "classroom50"
    github = "github"


class Part(StrEnum):
    """A part of what certify proves."""

    zoo = "zoo"
    attacks = "attacks"
    cheats = "cheats"


class Device(StrEnum):
    """What speed is graded on."""

    none = "none"
    cpu = "cpu"
    cuda = "cuda"


class Where(StrEnum):
    """What grades."""

    local = "local"
    slurm = "slurm"


class Keep(StrEnum):
    """What stays of a kata that is graded again."""

    new = "new"
    better = "better"


class Choice(StrEnum):
    """How far a student's code is shut in."""

    auto = "auto"
    bwrap = "bwrap"
    none = "none"


Examples = Annotated[int, typer.Option(min=1, help="Random inputs per property.")]
Replay = Annotated[
    bool, typer.Option("--replay/--no-replay", help="Draw inputs once for all submissions, or anew for each: the same.")
]
Excel = Annotated[
    bool, typer.Option("--excel", help="Begin the CSV with the mark by which Excel reads names in any alphabet.")
]
Jobs = Annotated[int, typer.Option(min=1, help="How many submissions at a time.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object on standard output; all other words go to standard error.")
]
Submissions = Annotated[
    list[Path],
    typer.Argument(help="Directories, .zip, .tar, .tar.gz, or a folder of them.", metavar="SUBMISSION..."),
]
Katas = Annotated[list[str] | None, typer.Option(help="Only this kata (repeatable).", metavar="NAME")]
Tracks = Annotated[
    list[str] | None,
    typer.Option(help="The katas of this track, or of all tracks (repeatable).", metavar="NAME"),
]
IsolationLevel = Annotated[Choice, typer.Option(help="auto: bwrap where it works, else none with a warning.")]
