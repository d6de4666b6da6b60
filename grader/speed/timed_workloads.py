"""Grades all workloads of a submission, one after another."""

import time
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from grader.results.result import PerformanceResult
from grader.sandbox.inside.cuda import CudaError
from grader.speed.machine import Machine
from grader.speed.worker_bench import WorkerBench, choose_task
from torchkata.course import Workload
from torchkata.i18n import _, translate
from torchkata.inside.speed.sizes import Kind
from torchkata.inside.speed.workload import work_of
from torchkata.inside.text import Text
from torchkata.result import Outcome
from torchkata.seam.failures import Crashed, Died, Inconclusive, NotStarted, TimedOut
from torchkata.speed.bench import SLOWEST, Reading, measure
from torchkata.speed.decision import blame_machine, points_on, score_of
from torchkata.speed.memory import NoRoom
from torchkata.speed.remarks import choose_lesson

WHY_NO_POINTS = Text("This is a rehearsal without points: only speed on a GPU earns them.")


def grade(
    machine: Machine, workloads: Iterable[Workload], files: Mapping[str, Mapping[str, bytes]]
) -> Iterator[PerformanceResult]:
    """Grade each workload with its own set of files.

    If this process or its device fails, grading stops early, and the remaining workloads need a new process.
    """
    for workload in workloads:
        began = time.monotonic()
        try:
            row, failed = grade_workload(machine, workload, files[workload.name]), False
        except (CudaError, RuntimeError, OSError) as error:  # raised by torch
            text = translate(blame_machine(format_error(error)))
            row, failed = make_empty_row(machine.kind, workload, "inconclusive", text), True
        if row.rehearsed:
            row = msgspec.structs.replace(row, message="\n".join(filter(None, (row.message, translate(WHY_NO_POINTS)))))
        yield msgspec.structs.replace(row, seconds=round(time.monotonic() - began, 3))
        if failed:
            return


def grade_workload(machine: Machine, workload: Workload, files: Mapping[str, bytes]) -> PerformanceResult:
    """Grade a workload. Errors raised by torch or the driver in this process are propagated."""
    try:
        return make_row(machine, workload, measure(WorkerBench(machine, choose_task(machine, workload), files)))
    except NoRoom as error:
        return make_empty_row(machine.kind, workload, "not_graded", translate(error.note))
    except NotStarted as error:
        text = _("{file} is missing or still a stub", file=error.place.file)
        return make_empty_row(machine.kind, workload, "not_started", text)
    except Crashed as error:
        where = _("{file}, line {line}", file=error.place.file, line=error.place.line)
        text = f"{error.error} ({where})" if error.place.line else error.error
        return make_empty_row(machine.kind, workload, "crashed", text)
    except Died as error:
        return make_empty_row(machine.kind, workload, "crashed", error.how)
    except TimedOut as error:
        text = _(
            "{how}: more than {times} times slower than the passing threshold", how=error.how, times=f"{SLOWEST:g}"
        )
        return make_empty_row(machine.kind, workload, "timed_out", text)
    except Inconclusive as error:
        return make_empty_row(machine.kind, workload, "inconclusive", translate(blame_machine(error)))


def make_row(machine: Machine, workload: Workload, reading: Reading) -> PerformanceResult:
    """Return the row that is stored for a verdict."""
    verdict, points = reading.verdict, points_on(machine.kind, workload)
    taught = ""
    if verdict.outcome != "inconclusive" and verdict.median is not None:  # the result is right
        taught = choose_lesson(workload.name, machine.kind, verdict.median, reading.mfu, machine.device)
    return PerformanceResult(
        workload=workload.name,
        outcome=verdict.outcome,
        score=score_of(verdict.tier, points),
        max_score=points.full,
        message="\n".join(filter(None, (translate(verdict.note), taught))),
        ratio=verdict.median,
        interval=verdict.interval,
        thresholds=(reading.thresholds.passing, reading.thresholds.full),
        tier=verdict.tier,
        mfu=reading.mfu,
        rate=reading.rate,
        unit=work_of(workload.name).unit,
        blocks=verdict.used,
    )


def format_error(error: Exception) -> str:
    """Return the type of an error and the first line of its message."""
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said}"


def make_empty_row(kind: Kind, workload: Workload, outcome: Outcome, message: str) -> PerformanceResult:
    """Return the row of a workload that has not been measured."""
    most = points_on(kind, workload).full
    return PerformanceResult(workload=workload.name, outcome=outcome, max_score=most, message=message)
