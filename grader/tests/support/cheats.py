"""Times the slow solutions and the cheats in `reference/workloads/`, and judges the points that they earn.

slow/<kata>/<name>.py       correct but too slow for the workload `WORKLOAD`; the file is appended to the solution
cheats/<family>/<name>.py   pretends to be fast: the cell `CHEAT` is appended to the slow solution `SLOW`, and the cell
                            `CONTROL`, which does something similar honestly, to the correct solution

`EXPECTED` is "stopped", or "legitimate: …" if the cheat does the work and may earn points. Runs on the CPU earn no
points, so the points that the same tier would earn on a GPU are compared. The files are read and never imported.
"""

import ast
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from grader.proof import zoo
from grader.results.result import PerformanceResult
from grader.sandbox.launch import Sandbox
from grader.speed.timed_submission import Row, SpeedJob, grade_speed
from grader.tests.attacks.trials import read_cells
from torchkata.course import Workload, course
from torchkata.inside.speed.sizes import Kind
from torchkata.speed.decision import score_of

RESTLESS = "blocks were timed without disturbance"  # part of the note for a noisy machine
TRIES = 2  # maximum number of measurements if the machine is too noisy
MAX_SECONDS = 400.0  # time limit for a single run of a workload
STOPPED_BY = {"passed": "", "crashed": "no valid answer", "timed_out": "the time limit", "not_started": "the reader"}


@dataclass(frozen=True)
class Slow:
    """A correct solution that is too slow for a workload."""

    title: str  # kata/name
    kata: str
    workload: Workload
    source: str  # source code of the kata's file

    def make_files(self, code: str = "") -> dict[str, bytes]:
        """Return the files of the submission, with code appended."""
        return replace_kata(self.kata, f"{self.source}\n\n{code}")


class Cheat(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="upper"):
    """A cheat."""

    title: str  # family/name
    aim: str
    slow: str  # title of the slow solution that it extends
    expected: Annotated[str, msgspec.Meta(pattern="^(stopped|legitimate: .+)$")]
    cheat: str
    control: str


def replace_kata(kata: str, source: str) -> dict[str, bytes]:
    """Return the solution of all katas, with one of them replaced."""
    return {**course().solutions(), f"{kata}.py": source.encode()}


def load_slow() -> dict[str, Slow]:
    """Return the slow solutions by title."""
    found = {}
    for path in sorted((course().reference / "workloads/slow").glob("*/*.py")):
        code, kata = path.read_text("utf-8"), path.parent.name
        (workload,) = [
            ast.literal_eval(node.value) for node in ast.parse(code).body[:2] if isinstance(node, ast.Assign)
        ]
        source = f"{zoo.read_solution(course().katas[kata])}\n\n{code}"
        found[f"{kata}/{path.stem}"] = Slow(f"{kata}/{path.stem}", kata, course().workloads[workload], source)
    return found


def load_cheats() -> list[Cheat]:
    """Return all cheats."""
    return [read_cheat(path) for path in sorted((course().reference / "workloads/cheats").glob("*/*.py"))]


def read_cheat(path: Path) -> Cheat:
    """Return the cheat in a file. Raises msgspec.ValidationError if something is missing or unknown."""
    return msgspec.convert(read_cells(path), Cheat)


def measure(files: Mapping[str, bytes], workload: Workload, sandbox: Sandbox, kind: Kind = "cpu") -> PerformanceResult:
    """Time a submission, again if the machine was too noisy. Raises MachineError if the sandbox fails."""
    for _ in range(TRIES):
        job = SpeedJob("measured", files, (), (workload,))
        (row,) = [message.row for message in grade_speed(job, kind, sandbox) if isinstance(message, Row)]
        if not is_inconclusive(row):
            break
        time.sleep(1.0)
    return row


def find_gain(cheat: Cheat, slow: PerformanceResult, row: PerformanceResult) -> float:
    """Return the points that a cheat earns undeservedly, beyond those of its slow solution."""
    return max(0.0, compute_worth(row) - compute_worth(slow)) if cheat.expected == "stopped" else 0.0


def find_problems(cheat: Cheat, slow: PerformanceResult, row: PerformanceResult) -> list[str]:
    """Return how a cheat has succeeded, given the results of its slow solution and of the cheat itself."""
    gained = find_gain(cheat, slow, row)
    problems = (
        f"gained {gained:g} points" if gained and not is_inconclusive(row) else "",
        f"made the result inconclusive: {row.message}" if not row.counts and not is_noisy(row) else "",
        f"took {row.seconds:.0f} seconds" if row.seconds > MAX_SECONDS else "",
    )
    return [*filter(None, problems)]


def name_defense(row: PerformanceResult) -> str:
    """Return what stopped a cheat, or "" if nothing did."""
    if row.outcome == "failed":
        return "the check" if row.ratio is None else "the clock"
    return STOPPED_BY.get(row.outcome, row.outcome)


def compute_worth(row: PerformanceResult) -> float:
    """Return the points that the measured tier would earn on a GPU."""
    return score_of(row.tier, course().workloads[row.workload].points)


def is_noisy(row: PerformanceResult) -> bool:
    """Return whether the machine was too noisy for the measurement."""
    return row.outcome == "inconclusive" and RESTLESS in row.message


def is_inconclusive(row: PerformanceResult) -> bool:
    """Return whether the machine was too noisy, or the result passed only with the benefit of the doubt."""
    in_doubt = (
        row.outcome == "passed"
        and row.ratio is not None
        and row.thresholds is not None
        and row.ratio < row.thresholds[0]
    )
    return in_doubt or is_noisy(row)
