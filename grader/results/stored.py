"""The class as it is stored: of each result only what a table needs, so that a large class stays small in memory."""

from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.results.result import UNCOUNTED, Finding, ResultError, read
from torchkata.explain import Outcome, Status


class KataRow(msgspec.Struct, frozen=True):
    """One kata of a submission."""

    kata: str
    status: Status
    score: float


class WorkloadRow(msgspec.Struct, frozen=True):
    """One workload of a submission."""

    workload: str
    outcome: Outcome
    score: float = 0.0
    max_score: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether its points count."""
        return self.outcome not in UNCOUNTED

    @property
    def rehearsed(self) -> bool:
        """Whether it was graded where there are no points to earn."""
        return self.counts and self.max_score == 0


class Row(msgspec.Struct, frozen=True):
    """One submission."""

    submission: str
    score: float
    max_score: float
    isolation: str
    katas: list[KataRow]
    schema: str
    findings: list[Finding] = []
    performance: list[WorkloadRow] = []


def rows(directory: Path) -> tuple[list[Row], list[str]]:
    """All results of a directory, by submission, and a line for each that can't be read."""
    found: list[Row] = []
    problems: list[str] = []
    for path in stored_in(directory).values():
        try:
            found.append(read(path, Row))
        except ResultError as error:
            problems.append(str(error))
    return found, problems


def stored_in(directory: Path) -> dict[str, Path]:
    """The files of the results in a directory, in the order of their submissions."""
    return {
        path.parent.name: path for path in sorted(directory.glob("*/result.json"), key=lambda path: path.parent.name)
    }


def demand_results(directory: Path) -> None:
    """Raises CallError where there are none."""
    if not directory.is_dir():
        raise CallError(f"{directory}: there is no such directory")
    if not stored_in(directory):
        raise CallError(f"{directory}: there are no results in it (<submission>/result.json)")
