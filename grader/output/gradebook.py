"""`gradebook.csv`: a line a submission, the points of each kata beside its status, of each workload, and the findings.

A kata has its columns where it was graded, a workload where at least one submission has points to earn by it. The last
column says why a submission could not be read. Nothing else depends on when or how fast it was graded: the same class
and options make the same bytes. Texts are quoted, so that no comma, semicolon or line in one of them begins a cell.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from grader.results.result import PerformanceResult, Result, write_whole
from grader.results.text import printable
from torchkata.course import course

Cell: TypeAlias = str | float | None

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")  # what a spreadsheet would run


def write(rows: Sequence[Result], directory: Path, *, excel: bool = False) -> None:
    """Store the gradebook, whole or not at all."""
    graded = {kata.kata for row in rows for kata in row.katas}
    names = [name for name in course().katas if name in graded]
    timed = {workload.workload for row in rows for workload in row.performance if earns(workload)}
    workloads = [name for name in course().workloads if name in timed]
    table: list[list[Cell]] = [
        [
            *("submission", "score", "max_score"),
            *(column for name in names for column in (name, f"{name}_status")),
            *workloads,
            *("findings", "unreadable"),
        ]
    ]
    for row in rows:
        katas = {kata.kata: (kata.score, kata.status) for kata in row.katas}
        cells: list[Cell] = [cell for name in names for cell in katas.get(name, ("", "not_graded"))]
        speed = {workload.workload: workload.score for workload in row.performance if earns(workload)}
        cells += [speed.get(name, "") for name in workloads]
        table.append([row.submission, row.score, row.max_score, *cells, len(row.findings), row.unreadable])
    write_whole(directory / "gradebook.csv", csv_of(table, excel=excel))


def earns(workload: PerformanceResult) -> bool:
    """Whether there were points to earn by it."""
    return workload.counts and not workload.rehearsed


def csv_of(table: Iterable[Iterable[Cell]], *, excel: bool = False) -> bytes:
    """A table as a file; with the mark by which Excel knows UTF-8, and which other programs take for text, if asked."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    lines.writerows([harmless(cell) if isinstance(cell, str) else cell for cell in line] for line in table)
    return out.getvalue().encode("utf-8-sig" if excel else "utf-8")


def harmless(text: str) -> str:
    """Text that no spreadsheet takes for a formula, and that is read in the order in which it stands."""
    shown = printable(text)
    return f"'{shown}" if shown.startswith(FORMULA) else shown
