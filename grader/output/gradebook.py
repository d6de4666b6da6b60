"""`gradebook.csv`: a line a submission, the points of each kata beside its status, of each workload, and the findings.

A kata has its columns where it was graded, a workload where at least one submission has points to earn by it. Nothing
else depends on when or how fast it was graded: the same class and options make the same bytes.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from grader.results.result import PerformanceResult, Result, write_whole
from torchkata.course import course

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")  # what a spreadsheet would run


def write(rows: Sequence[Result], directory: Path) -> None:
    """Store the gradebook, whole or not at all."""
    out = io.StringIO()
    graded = {kata.kata for row in rows for kata in row.katas}
    names = [name for name in course().katas if name in graded]
    timed = {workload.workload for row in rows for workload in row.performance if earns(workload)}
    workloads = [name for name in course().workloads if name in timed]
    table = csv.writer(out, lineterminator="\n")
    table.writerow(
        [
            *("submission", "score", "max_score"),
            *(column for name in names for column in (name, f"{name}_status")),
            *workloads,
            "findings",
        ]
    )
    for row in rows:
        katas = {kata.kata: (kata.score, kata.status) for kata in row.katas}
        cells = [cell for name in names for cell in katas.get(name, ("", "not_graded"))]
        speed = {workload.workload: workload.score for workload in row.performance if earns(workload)}
        cells += [speed.get(name, "") for name in workloads]
        table.writerow([harmless(row.submission), row.score, row.max_score, *cells, len(row.findings)])
    write_whole(directory / "gradebook.csv", out.getvalue().encode("utf-8"))


def earns(workload: PerformanceResult) -> bool:
    """Whether there were points to earn by it."""
    return workload.counts and not workload.rehearsed


def harmless(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
