"""Options shared by several commands."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Device(StrEnum):
    """The kind of device used for speed grading."""

    none = "none"
    cpu = "cpu"
    cuda = "cuda"


class Choice(StrEnum):
    """The isolation level of student code."""

    auto = "auto"
    bwrap = "bwrap"
    none = "none"


Examples = Annotated[int, typer.Option(min=1, help="Number of random inputs per property.")]
Replay = Annotated[
    bool,
    typer.Option(
        "--replay/--no-replay",
        help="Draw the inputs once for all submissions, or separately for each of them. The results are the same.",
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Number of submissions to grade in parallel.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print a JSON object to standard output, and everything else to standard error.")
]
Submissions = Annotated[
    list[Path],
    typer.Argument(
        help="Submissions (directories or .zip, .tar or .tar.gz files), or a folder that contains submissions.",
        metavar="SUBMISSION...",
        readable=False,  # an unreadable submission is rejected later and does not affect the others
    ),
]
Katas = Annotated[list[str] | None, typer.Option(help="Use only this kata (repeatable).", metavar="NAME")]
Tracks = Annotated[
    list[str] | None,
    typer.Option(help='Use only this track, or "all" (repeatable).', metavar="NAME"),
]
IsolationLevel = Annotated[
    Choice,
    typer.Option(
        help="Isolation of student code. auto uses bwrap if it works here, and otherwise none, with a warning."
    ),
]
ResultsDir = Annotated[
    Path, typer.Argument(help="Results directory (the path passed to `grader grade --out`).", metavar="DIR")
]
