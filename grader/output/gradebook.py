"""`gradebook.csv`: one row per submission, with the points and status of each kata, workload points, and findings.

There are columns for each kata that was graded, and a column for each workload for which at least one submission could
earn points. If there are workloads, the column `device` names the model of the device, because only results from the
same model are comparable. If a test is waived, the column `waived` names it. The last column gives the reason if a
submission could not be read. The same results always produce the same bytes. Texts are quoted, so that commas,
semicolons and line breaks in a text do not start a new cell.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from grader.base.files import write_whole
from grader.base.text import one_line, printable
from grader.results.faults import list_faults
from grader.results.result import PerformanceResult, Result
from torchkata.course import course

CellValue: TypeAlias = str | float | None

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")  # beginning of a formula in a spreadsheet


def write(rows: Sequence[Result], directory: Path, *, excel: bool = False) -> None:
    """Write the gradebook atomically. Raises OSError if it can't be written."""
    graded = {kata.kata for row in rows for kata in row.katas}
    names = [name for name in course().katas if name in graded]
    timed = {workload.workload for row in rows for workload in row.performance if earns_points(workload)}
    workloads = [name for name in course().workloads if name in timed]
    waived = {
        row.submission: "; ".join(fault.test for fault in list_faults(row) if fault.kind == "waived") for row in rows
    }
    table: list[list[CellValue]] = [
        [
            *("submission", "score", "max_score"),
            *(column for name in names for column in (name, f"{name}_status")),
            *workloads,
            *(["device"] if workloads else []),
            *(["waived"] if any(waived.values()) else []),
            *("findings", "unreadable"),
        ]
    ]
    for row in rows:
        katas = {kata.kata: (kata.score, kata.status) for kata in row.katas}
        cells: list[CellValue] = [cell for name in names for cell in katas.get(name, ("", "not_graded"))]
        speed = {workload.workload: workload.score for workload in row.performance if earns_points(workload)}
        cells += [speed.get(name, "") for name in workloads]
        cells += [row.environment.get("device", "") if speed else ""] if workloads else []
        cells += [waived[row.submission]] if any(waived.values()) else []
        table.append([row.submission, row.score, row.max_score, *cells, len(row.findings), one_line(row.unreadable)])
    write_whole(directory / "gradebook.csv", encode_csv(table, excel=excel))


def earns_points(workload: PerformanceResult) -> bool:
    """Return whether a workload could earn points."""
    return workload.counts and not workload.rehearsed


def encode_csv(table: Iterable[Iterable[CellValue]], *, excel: bool = False) -> bytes:
    """Encode a table as CSV. `excel` adds a byte order mark, which Excel needs but other programs may show as text."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    lines.writerows([escape_formula(cell) if isinstance(cell, str) else cell for cell in line] for line in table)
    return out.getvalue().encode("utf-8-sig" if excel else "utf-8")


def escape_formula(text: str) -> str:
    """Return printable text that a spreadsheet does not interpret as a formula."""
    safe = printable(text)
    return f"'{safe}" if safe.startswith(FORMULA) else safe
