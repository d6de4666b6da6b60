"""Options that several commands have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Device(StrEnum):
    """What speed is graded on."""

    none = "none"
    cpu = "cpu"
    cuda = "cuda"


class Choice(StrEnum):
    """How far a student's code is shut in."""

    auto = "auto"
    bwrap = "bwrap"
    none = "none"


Examples = Annotated[int, typer.Option(min=1, help="Random inputs per property.")]
Replay = Annotated[
    bool, typer.Option("--replay/--no-replay", help="Draw inputs once for all submissions, or anew for each: the same.")
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
