"""All workloads of one submission, one after the other: figures, and what they earn."""

import time
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from grader.results.result import PerformanceResult
from grader.sandbox.cuda import CudaError
from grader.speed import figures, rates
from grader.speed.decision import Final, score_of
from grader.speed.machine import Machine
from torchkata.course import Tiers, Workload
from torchkata.explain import Outcome
from torchkata.failures import Crashed, Died, Inconclusive, NotStarted, TimedOut
from torchkata.speed.amounts import UNITS
from torchkata.speed.words import lesson

NOT_YOUR_FAULT = "this is not your fault, and costs nothing"


def grade(
    machine: Machine, workloads: Iterable[Workload], files: Mapping[str, Mapping[str, bytes]]
) -> Iterator[PerformanceResult]:
    """Each workload, on its own files: those of the submission, on foundations that hold."""
    for workload in workloads:
        began = time.monotonic()
        row = graded(machine, workload, files[workload.name])
        yield msgspec.structs.replace(row, seconds=round(time.monotonic() - began, 3))


def graded(machine: Machine, workload: Workload, files: Mapping[str, bytes]) -> PerformanceResult:
    """One workload, however it ends."""
    try:
        if workload.name in UNITS:
            measured = rates.measure(machine, workload, files)
            row = row_of(machine, workload, measured.verdict, measured.asked)
            return msgspec.structs.replace(row, rate=measured.rate, unit=UNITS[workload.name], mfu=measured.mfu)
        return row_of(machine, workload, figures.measure(machine, workload, files), workload.ratio[machine.kind])
    except NotStarted as error:
        return ended(workload, "not_started", f"{error.place.file} is not written yet")
    except Crashed as error:
        where = f" ({error.place.file}, line {error.place.line})" if error.place.line else ""
        return ended(workload, "crashed", f"{error.error}{where}")
    except Died as error:
        return ended(workload, "crashed", error.how)
    except TimedOut as error:
        return ended(workload, "timed_out", f"{error.how}: more than {rates.SLOWEST:g} times what passes")
    except (Inconclusive, CudaError) as error:
        return ended(workload, "inconclusive", f"{error}; {NOT_YOUR_FAULT}")


def row_of(machine: Machine, workload: Workload, verdict: Final, asked: Tiers) -> PerformanceResult:
    """A verdict as it is stored, with the shares that were asked for."""
    taught = "" if verdict.outcome == "inconclusive" else taught_by(machine, workload, verdict)
    return PerformanceResult(
        workload=workload.name,
        outcome=verdict.outcome,
        score=score_of(verdict, workload),
        max_score=workload.points.full,
        message="\n".join(filter(None, (verdict.note, taught))),
        ratio=verdict.median,
        interval=verdict.interval,
        asked=(asked.passing, asked.full),
        blocks=verdict.used,
    )


def taught_by(machine: Machine, workload: Workload, verdict: Final) -> str:
    """What the figure teaches, unless the result is wrong."""
    if verdict.median is None:
        return ""
    return lesson(workload.name, machine.kind, verdict.median, verdict.mfu, machine.device)


def ended(workload: Workload, outcome: Outcome, message: str) -> PerformanceResult:
    """A workload without a figure."""
    return PerformanceResult(workload=workload.name, outcome=outcome, max_score=workload.points.full, message=message)
