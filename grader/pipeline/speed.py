"""Grades the speed of submissions (`--device`), one submission at a time, after all tests have been run."""

import os
from collections.abc import Callable, Sequence

import msgspec
from rich.console import Console

from grader.base.progress import ProgressBar
from grader.pipeline.intake import take_in
from grader.pipeline.proven_sandbox import run_with_sandbox
from grader.pipeline.queue import Queue
from grader.pipeline.submission_ids import Refusal
from grader.results import result
from grader.results.dependencies import digest_submission
from grader.results.result import PerformanceResult, Result
from grader.sandbox.launch import Sandbox
from grader.speed import gpu, timing_device
from grader.speed.smoke_test import run_smoke_test
from grader.speed.timed_submission import DeviceFacts, SpeedJob, grade_speed
from grader.speed.timed_workloads import make_empty_row
from torchkata.course import Kata, course
from torchkata.i18n import _, class_language, translate
from torchkata.inside.speed.sizes import Kind
from torchkata.inside.text import Text

PROTECTIONS = {  # how timing on a GPU is protected, by isolation
    "bwrap": "in bubblewrap: the clock, the inputs and the check are out of the student's reach",
    "none": "without bubblewrap: in a separate process, which can read files and see other processes",
}
NO_POINTS = Text("Timed without bubblewrap: speed earns no points unless the instructor grades with --isolation none.")
REMEDY = "speed earns no points on this machine: make bubblewrap work (grader doctor), or grade with --isolation none"
OWN_EYES = "`pytest -m gpu` may still time code here, in one process, for the student's own information"


def grade_speeds(
    kind: Kind, queue: Queue, graded: Sequence[str], out: Console, warn: Callable[[str], None]
) -> tuple[list[str], str]:
    """Time the submissions that have no speed results yet, and store the results.

    Return the inconclusive submissions, and the reason why nothing could be timed ("" if this machine can measure
    speed). Raises MachineError if the sandbox fails or a result can't be stored.
    """
    os.environ["KATA_LANG"] = class_language()  # also if all tests are already graded, so that none is collected
    options = queue.options
    queued, unsure = find_untimed(kind, queue, set(graded))
    unfit = ""

    def store(job: SpeedJob, rows: list[PerformanceResult], facts: dict[str, str], *, withheld: bool = False) -> None:
        stored = result.read(options.out / job.submission / "result.json")
        result.write(add_speed(stored, kind, rows, facts, withheld=withheld), options.out)

    def refuse(reason: str) -> None:
        nonlocal unfit
        unfit = f"speed is not graded: {reason}"
        for job in queued:
            store(job, [make_empty_row(kind, workload, "not_graded", reason) for workload in job.workloads], {})

    def use(sandbox: Sandbox) -> None:
        nonlocal unfit
        if reason := run_smoke_test(kind, sandbox):
            refuse(reason)
            unfit += f" ({OWN_EYES})" if kind == "cuda" else ""
            return
        open_to_students = kind == "cuda" and sandbox.isolation != "bwrap"
        withheld = open_to_students and options.isolation != "none"
        if kind == "cuda":
            out.print(f"speed is timed {PROTECTIONS[sandbox.isolation]}")
        if withheld:
            warn(REMEDY)
        with ProgressBar(out, sum(len(job.workloads) for job in queued), "workloads") as progress:
            for job in queued:
                rows, facts = time_submission(job, kind, sandbox, lambda name: progress.count(f"timing {name}"))
                store(job, [withhold_points(row) for row in rows] if withheld else rows, facts, withheld=withheld)
                if any(row.outcome == "inconclusive" for row in rows):
                    unsure.append(job.submission)

    device = gpu.choose_gpu() if queued and kind == "cuda" else None
    if isinstance(device, str):
        refuse(device)
    elif queued:
        with gpu.reserve(device) as taken:
            if taken:
                refuse(taken)
            else:
                limits, workers = timing_device.get_limits(), timing_device.plan_workers(device)
                run_with_sandbox(options.isolation, limits, workers, warn, use, [options.out])
    return unsure, unfit


def withhold_points(row: PerformanceResult) -> PerformanceResult:
    """Return the row without points and with a message that tells the student why."""
    if not row.counts:
        return row
    message = "\n".join(filter(None, (row.message, translate(NO_POINTS))))
    return msgspec.structs.replace(row, score=0.0, max_score=0.0, message=message)


def build_untimed_rows(kind: Kind, katas: Sequence[Kata]) -> list[PerformanceResult]:
    """Return the rows of the workloads that have not been timed yet."""
    chosen = course().timed_with(kata.name for kata in katas)
    message = _("Not timed: grading stopped before this workload.")
    return [make_empty_row(kind, workload, "not_graded", message) for workload in chosen]


def find_untimed(kind: Kind, queue: Queue, graded: set[str]) -> tuple[list[SpeedJob], list[str]]:
    """Return jobs for submissions without speed results, and the submissions that have changed since the tests ran."""
    workloads = course().timed_with(kata.name for kata in queue.katas)
    jobs: list[SpeedJob] = []
    changed: list[str] = []
    for entry in queue.entries:
        stored = result.load(queue.options.out / entry.id / "result.json")
        if entry.id not in graded or stored is None:
            continue
        if not queue.options.again and stored.is_timed(kind):
            continue
        submission = take_in(entry)
        if isinstance(submission, Refusal) or digest_submission(submission.judged) != stored.hand_in:
            changed.append(entry.id)  # the files may have been changed or removed since
        else:
            jobs.append(SpeedJob(entry.id, submission.files, tuple(stored.katas), workloads))
    return jobs, changed


def time_submission(
    job: SpeedJob, kind: Kind, sandbox: Sandbox, take: Callable[[str], None]
) -> tuple[list[PerformanceResult], dict[str, str]]:
    """Time all workloads of a submission. Return the rows and a description of the device."""
    rows, facts = [], {}
    for message in grade_speed(job, kind, sandbox):
        if isinstance(message, DeviceFacts):
            facts = message.facts
        else:
            rows.append(message.row)
            take(job.submission)
    order = [*course().workloads]
    return sorted(rows, key=lambda row: order.index(row.workload)), facts


def add_speed(
    stored: Result, kind: Kind, rows: list[PerformanceResult], facts: dict[str, str], *, withheld: bool = False
) -> Result:
    """Return a result with speed added. A workload that was not graded affects neither the score nor the maximum.

    `withheld`: the points were withheld because of this machine, so another one may time the submission again.
    """
    counted = [row for row in rows if row.counts]
    return msgspec.structs.replace(
        stored,
        device=kind,
        performance=rows,
        can_time_again=withheld,
        environment={**stored.environment, **facts},
        score=sum(kata.score for kata in stored.katas) + sum(row.score for row in counted),
        max_score=sum(kata.max_score for kata in stored.katas) + sum(row.max_score for row in counted),
        seconds=round(stored.seconds + sum(row.seconds for row in rows), 3),
    )
