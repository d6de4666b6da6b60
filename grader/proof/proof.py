"""What `grader certify` is asked for, and what each part of it finds."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.table import Table

from grader.proof.attacks import Level
from grader.sandbox.launch import Isolation


@dataclass(frozen=True)
class Options:
    """The options of `grader certify`."""

    jobs: int
    seeds: int
    examples: int
    isolation: Isolation
    katas: tuple[str, ...]
    markdown: Path | None
    only: Literal["files", "zoo", "attacks", "cheats"] | None = None
    replay: bool = True
    quick: bool = False
    force: bool = False
    write_caught_by: bool = False
    messages: Path | None = None  # the folder for what a student would read; then nothing is proven


@dataclass(frozen=True)
class Proof:
    """What a part of certify has found."""

    tables: list[Table]
    claims: int
    failed: list[str]
    notes: list[str]
    unsure: int = 0  # claims that the machine was too restless for
    skipped: int = 0  # claims that were proven before, with the same content


def levels(options: Options) -> tuple[Level, ...]:
    """Where attacks and cheats are tried."""
    return ("bwrap", "none") if options.isolation == "auto" else (options.isolation,)
