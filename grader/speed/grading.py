"""All workloads of one submission, one after the other: figures, and what they earn."""

import time
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from grader.results.result import REHEARSAL, PerformanceResult
from grader.sandbox.cuda import CudaError
from grader.speed import figures, rates
from grader.speed.machine import Machine
from torchkata.course import Tiers, Workload
from torchkata.result import Outcome
from torchkata.seam.failures import Crashed, Died, Inconclusive, NotStarted, TimedOut
from torchkata.speed.decision import Final, points_on, score_of
from torchkata.speed.remarks import choose_remark
from torchkata.speed.sizes import Kind
from torchkata.speed.workload import Rate, work_of

NOT_YOUR_FAULT = "this is not your fault, and costs nothing"
WHY_NO_POINTS = f"This is {REHEARSAL}: only speed on a GPU earns them."


def grade(
    machine: Machine, workloads: Iterable[Workload], files: Mapping[str, Mapping[str, bytes]]
) -> Iterator[PerformanceResult]:
    """Each workload, on its own files: those of the submission, on foundations that hold.

    Ends early where this process or its device has failed: what is left needs a new process.
    """
    for workload in workloads:
        began = time.monotonic()
        try:
            row, failed = graded(machine, workload, files[workload.name]), False
        except (CudaError, RuntimeError, OSError) as error:  # torch's own are RuntimeErrors
            text = f"{in_a_line(error)}; {NOT_YOUR_FAULT}"
            row, failed = ended(machine.kind, workload, "inconclusive", text), True
        yield msgspec.structs.replace(marked(row), seconds=round(time.monotonic() - began, 3))
        if failed:
            return


def graded(machine: Machine, workload: Workload, files: Mapping[str, bytes]) -> PerformanceResult:
    """One workload, however the student's code or the comparison ends. Raises what torch and the driver raise here."""
    try:
        if isinstance(work := work_of(workload.name), Rate):
            measured = rates.measure(machine, workload, files)
            row = row_of(machine, workload, measured.verdict, measured.thresholds)
            return msgspec.structs.replace(row, rate=measured.rate, unit=work.unit, mfu=measured.mfu)
        return row_of(machine, workload, figures.measure(machine, workload, files), workload.ratio[machine.kind])
    except NotStarted as error:
        return ended(machine.kind, workload, "not_started", f"{error.place.file} is not written yet")
    except Crashed as error:
        where = f" ({error.place.file}, line {error.place.line})" if error.place.line else ""
        return ended(machine.kind, workload, "crashed", f"{error.error}{where}")
    except Died as error:
        return ended(machine.kind, workload, "crashed", error.how)
    except TimedOut as error:
        slowest = f"more than {rates.SLOWEST:g} times what passes"
        return ended(machine.kind, workload, "timed_out", f"{error.how}: {slowest}")
    except Inconclusive as error:
        return ended(machine.kind, workload, "inconclusive", f"{error}; {NOT_YOUR_FAULT}")


def row_of(machine: Machine, workload: Workload, verdict: Final, thresholds: Tiers) -> PerformanceResult:
    """A verdict as it is stored, with the shares that were asked for."""
    points = points_on(machine.kind, workload)
    taught = "" if verdict.outcome == "inconclusive" else taught_by(machine, workload, verdict)
    return PerformanceResult(
        workload=workload.name,
        outcome=verdict.outcome,
        score=score_of(verdict.tier, points),
        max_score=points.full,
        message="\n".join(filter(None, (verdict.note, taught))),
        ratio=verdict.median,
        interval=verdict.interval,
        thresholds=(thresholds.passing, thresholds.full),
        tier=verdict.tier,
        blocks=verdict.used,
    )


def taught_by(machine: Machine, workload: Workload, verdict: Final) -> str:
    """What the figure teaches, unless the result is wrong."""
    if verdict.median is None:
        return ""
    return choose_remark(workload.name, machine.kind, verdict.median, verdict.mfu, machine.device)


def in_a_line(error: Exception) -> str:
    """What kind of error it is, and the first line of what it says."""
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said}"


def ended(kind: Kind, workload: Workload, outcome: Outcome, message: str) -> PerformanceResult:
    """A workload without a figure."""
    most = points_on(kind, workload).full
    return PerformanceResult(workload=workload.name, outcome=outcome, max_score=most, message=message)


def marked(row: PerformanceResult) -> PerformanceResult:
    """The row, which says so where it is a rehearsal."""
    if not row.rehearsed:
        return row
    return msgspec.structs.replace(row, message="\n".join(filter(None, (row.message, WHY_NO_POINTS))))
