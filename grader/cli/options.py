"""Options shared by several commands."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from grader.pipeline.layouts import Layout
from grader.sandbox.launch import Isolation

Device: TypeAlias = Literal["none", "cpu", "cuda"]  # the kind of device used for speed grading

Examples = Annotated[int, typer.Option(min=1, help="Number of random inputs per property.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of submissions to grade in parallel.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print a JSON object to standard output, and everything else to standard error.")
]
Submissions = Annotated[
    list[Path],
    typer.Argument(
        help="Submissions: directories, archives (.zip, .tar, .tar.gz, .tar.xz, .tar.bz2) or files. With --layout: "
        "folders of classes.",
        metavar="SUBMISSION...",
        readable=False,  # an unreadable submission is rejected later and does not affect the others
    ),
]
LayoutOfClass = Annotated[
    Layout | None,
    typer.Option(
        help="What SUBMISSION is: a class, as downloaded from this platform (folders: one folder or archive for each "
        "student). Without --layout, it is one submission."
    ),
]
Katas = Annotated[list[str] | None, typer.Option(help="Use only this kata (repeatable).", metavar="NAME")]
Tracks = Annotated[
    list[str] | None,
    typer.Option(help='Use only this track, or "all" (repeatable).', metavar="NAME"),
]
IsolationLevel = Annotated[
    Isolation,
    typer.Option(
        help="Isolation of student code. auto uses bwrap if it works here, and otherwise none, with a warning."
    ),
]
ResultsDir = Annotated[
    Path, typer.Argument(help="Results directory (the path passed to `grader grade --out`).", metavar="DIR")
]
