"""Measures workloads whose result is not a rate: synchronization with the device, and peak memory."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from grader.speed.machine import Machine
from grader.speed.timed_worker import Task, TimedBlock, TimedWorker
from torchkata.course import Workload
from torchkata.speed.decision import Final, judge_share
from torchkata.speed.sizes import Kind
from torchkata.speed.workload import HostWait, MemoryPeak, Work, work_of

STEPS = 4
SECONDS = 60.0
ATTEMPTS = 3  # number of measurements, of which the best is used
LOOK_SECONDS = 0.0005
AHEAD = 0.5  # the host must request its last batch within this fraction of the time for which the device is busy


@dataclass(frozen=True)
class Figure:
    """A measurement, expressed as a ratio: 1 or more meets the requirement in full."""

    ratio: float
    note: str = ""


class WrongResult(Exception):
    """Raised if the submission did not perform the work or its result is wrong."""


def measure(machine: Machine, workload: Workload, files: Mapping[str, bytes]) -> Final:
    """Measure a workload of a submission. A failure raises one of the exceptions in `torchkata.seam.failures`."""
    work = work_of(workload.name)
    task = Task(workload.name, machine.kind, work.sizes[machine.kind], STEPS)
    thresholds = workload.ratio[machine.kind]
    found: list[Figure] = []
    while len(found) < ATTEMPTS and not any(figure.ratio >= thresholds.full for figure in found):
        timed = TimedWorker(machine.student, machine.limits, task, files, machine.accelerator)
        try:
            found.append(choose_measurement(work, machine.kind)(timed))
        except WrongResult as error:
            return Final("failed", note=str(error))
        finally:
            timed.close()
    best = max(found, key=lambda figure: figure.ratio)
    return judge_share(best.ratio, thresholds, used=len(found), note=best.note)


def demand_right_result(timed: TimedWorker, done: TimedBlock) -> None:
    """Raise WrongResult if the training result is not correct."""
    if not done.error <= timed.check.floor:
        raise WrongResult("the weights after training are wrong for these batches")


def count_host_reads(timed: TimedWorker) -> Figure:
    """Count the reads that would make the host wait for a GPU. This is done on a CPU, where a read does not wait."""
    done = timed.block(SECONDS)
    demand_right_result(timed, done)
    reads = done.reply.value
    if type(reads) is not int:
        raise WrongResult("the number of copies to the host is not an integer")
    note = (
        f"your code copied a value to the host {reads} times in {STEPS} steps: on a GPU, each copy waits for the device"
    )
    return Figure(0.0, note) if reads else Figure(1.0)


def measure_host_lead(timed: TimedWorker) -> Figure:
    """Measure how early the host requests its last batch, which shows whether the host waits for the GPU.

    The first block is ignored, because loading a kernel for the first time synchronizes with the device.
    """
    demand_right_result(timed, timed.block(SECONDS))
    timed.memory["asked"].zero_()
    asked = [math.inf]

    def look() -> None:
        if asked[0] == math.inf and int(timed.memory["asked"][0]) >= STEPS:
            asked[0] = time.perf_counter()

    with poll_in_thread(look):
        done = timed.block(SECONDS)
    demand_right_result(timed, done)
    share = min(1.0, (asked[0] - done.began) / done.seconds)
    note = f"the last batch was requested only after {share:.0%} of the total time: something waits for the device"
    return Figure(1.0) if share <= AHEAD else Figure(0.0, note)


def measure_process_peak(timed: TimedWorker) -> Figure:
    """Measure the peak increase in the memory of the process that runs the student's code, on a CPU."""
    seen = [timed.worker.read_memory()]
    with poll_in_thread(lambda: seen.append(timed.worker.read_memory())):
        done = timed.block(SECONDS)
    seen.append(timed.worker.read_memory())
    if not all(use.own for use in seen):
        raise WrongResult("memory could not be measured: your code ended its main thread")
    return compare_peak(timed, done, max(use.beyond(timed.memory_before) for use in seen))


def measure_device_peak(timed: TimedWorker) -> Figure:
    """Measure the peak decrease in the free memory of an otherwise unused GPU while the student's code is running."""
    free = [timed.accelerator.free_bytes()]
    with poll_in_thread(lambda: free.append(timed.accelerator.free_bytes())):
        done = timed.block(SECONDS)
    return compare_peak(timed, done, timed.free_before - min(free))


def compare_peak(timed: TimedWorker, done: TimedBlock, peak: int) -> Figure:
    """Compare the peak memory in bytes with the number of bytes that the workload's formula gives."""
    assert isinstance(timed.task.work, MemoryPeak)
    expected = timed.task.work.needed_bytes(timed.task.size)
    demand_right_result(timed, done)
    note = f"the peak was {peak / 2**20:.0f} MiB, but the formula gives {expected / 2**20:.0f} MiB"
    return Figure(expected / max(peak, 1), note)


@contextmanager
def poll_in_thread(look: Callable[[], object]) -> Iterator[None]:
    """Call `look` every half millisecond in this context. Exceptions raised by `look` are re-raised at the end."""
    over, failed = threading.Event(), list[Exception]()

    def loop() -> None:
        try:
            while True:
                look()
                if over.wait(LOOK_SECONDS):
                    return
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if failed:
        raise failed[0]


FIGURES: dict[tuple[type[Work], Kind], Callable[[TimedWorker], Figure]] = {
    (HostWait, "cpu"): count_host_reads,
    (HostWait, "cuda"): measure_host_lead,
    (MemoryPeak, "cpu"): measure_process_peak,
    (MemoryPeak, "cuda"): measure_device_peak,
}


def choose_measurement(work: Work, kind: Kind) -> Callable[[TimedWorker], Figure]:
    """Return the function that measures a workload on this kind of device."""
    return next(figure for (measured, on), figure in FIGURES.items() if isinstance(work, measured) and on == kind)
