"""Results and helpers shared by all parts of `grader certify`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from grader.pipeline.collect import Tests
from grader.pipeline.job import Graded, Job
from grader.pipeline.progress import Progress, count_tests
from grader.pipeline.session import grade
from grader.sandbox.inside.forks import collapse_memory
from grader.sandbox.launch import Sandbox


@dataclass(frozen=True)
class Proof:
    """The outcome of a part of `grader certify`."""

    tables: list[Table]
    claims: int
    failed: list[str]
    notes: list[str]
    skipped: int = 0  # number of claims taken from stored proofs


def grade_all(
    jobs: Sequence[Job], at_once: int, tests: Tests, sandbox: Sandbox, out: Console, what: str, items: str
) -> Iterator[Graded]:
    """Grade up to `at_once` jobs at the same time while showing a progress bar, and yield the results."""
    collapse_memory()
    with Progress(out, what, items, len(jobs), sum(map(count_tests, jobs))) as progress:
        for event in grade(jobs, tests, sandbox, at_once):
            progress.take(event)
            if isinstance(event, Graded):
                yield event


def format_markdown(tables: Sequence[Table], command: str = "grader certify") -> str:
    """Return a Markdown page with the tables."""
    parts = [f"# What `{command}` proved\n"]
    for table in tables:
        columns = [list(column.cells) for column in table.columns]
        lines = [
            "| " + " | ".join(str(column.header) for column in table.columns) + " |",
            "|" + " --- |" * len(columns),
        ]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in zip(*columns, strict=True)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
