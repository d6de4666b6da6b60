"""Measures what is no rate: whether the host had to wait for the device, and how much memory was held at most."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from grader.speed.machine import Machine
from grader.speed.timed_worker import Done, Task, TimedWorker
from torchkata.course import Workload
from torchkata.speed.decision import Final, judge_share
from torchkata.speed.sizes import Kind
from torchkata.speed.workload import HostWait, MemoryPeak, Work, work_of

STEPS = 4
SECONDS = 60.0
ATTEMPTS = 3  # of which the best counts
LOOK_SECONDS = 0.0005
AHEAD = 0.5  # of the time that the device takes: by then the host must have asked for its last batch


@dataclass(frozen=True)
class Figure:
    """What was found, as a share of what is asked for."""

    ratio: float
    note: str = ""


class WrongResult(Exception):
    """The work was not done, or not right."""


def measure(machine: Machine, workload: Workload, files: Mapping[str, bytes]) -> Final:
    """One workload of one submission. Raises what `torchkata.seam.failures` has."""
    work = work_of(workload.name)
    task = Task(workload.name, machine.kind, work.sizes[machine.kind], STEPS)
    thresholds = workload.ratio[machine.kind]
    found: list[Figure] = []
    while len(found) < ATTEMPTS and not any(figure.ratio >= thresholds.full for figure in found):
        timed = TimedWorker(machine.student, machine.limits, task, files, machine.accelerator)
        try:
            found.append(figure_of(work, machine.kind)(timed))
        except WrongResult as error:
            return Final("failed", note=str(error))
        finally:
            timed.close()
    best = max(found, key=lambda figure: figure.ratio)
    return judge_share(best.ratio, thresholds, used=len(found), note=best.note)


def demand_right(timed: TimedWorker, done: Done) -> None:
    """Raises WrongResult unless the work was really done."""
    if not done.error <= timed.check.floor:
        raise WrongResult("the weights after training are not what training on these batches makes of them")


def reads_to_the_host(timed: TimedWorker) -> Figure:
    """On a CPU nothing waits: what would is counted beside the student's code."""
    done = timed.block(SECONDS)
    demand_right(timed, done)
    reads = done.reply.value
    if type(reads) is not int:
        raise WrongResult("the number of reads came back as something else")
    note = f"{reads} times in {STEPS} steps a value was read to the host: on a GPU each waits until the device is done"
    return Figure(0.0, note) if reads else Figure(1.0)


def lead_of_the_host(timed: TimedWorker) -> Figure:
    """On a GPU that has other work queued: how early the host asks for its last batch.

    A first block does not count: what is done for the first time has to be loaded, and that waits for the device.
    """
    demand_right(timed, timed.block(SECONDS))
    timed.memory["asked"].zero_()
    asked = [math.inf]

    def look() -> None:
        if asked[0] == math.inf and int(timed.memory["asked"][0]) >= STEPS:
            asked[0] = time.perf_counter()

    with looking(look):
        done = timed.block(SECONDS)
    demand_right(timed, done)
    share = min(1.0, (asked[0] - done.began) / done.seconds)
    note = f"the last batch was asked for after {share:.0%} of the time that the device took: something waits for it"
    return Figure(1.0) if share <= AHEAD else Figure(0.0, note)


def peak_of_the_process(timed: TimedWorker) -> Figure:
    """On a CPU: the most that the kernel was seen to count for it, over what it had before any of its own code ran."""
    seen = [timed.worker.memory()]
    with looking(lambda: seen.append(timed.worker.memory())):
        done = timed.block(SECONDS)
    seen.append(timed.worker.memory())
    if not all(use.own for use in seen):
        raise WrongResult("the kernel counts no memory for it: its first thread has ended")
    return compared(timed, done, max(use.beyond(timed.memory_before) for use in seen))


def peak_of_the_device(timed: TimedWorker) -> Figure:
    """On a GPU, which nobody else uses: by how much its free memory falls, from before any of its own code ran."""
    free = [timed.accelerator.free_bytes()]
    with looking(lambda: free.append(timed.accelerator.free_bytes())):
        done = timed.block(SECONDS)
    return compared(timed, done, timed.free_before - min(free))


def compared(timed: TimedWorker, done: Done, peak: int) -> Figure:
    """A peak in bytes against what the formula says."""
    assert isinstance(timed.task.work, MemoryPeak)
    expected = timed.task.work.needed_bytes(timed.task.size)
    demand_right(timed, done)
    note = f"{peak / 2**20:.0f} MiB held at most, where the formula says {expected / 2**20:.0f}"
    return Figure(expected / max(peak, 1), note)


@contextmanager
def looking(look: Callable[[], object]) -> Iterator[None]:
    """Call `look` at once and every half millisecond, beside what is done within; then raise what it has raised."""
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
    (HostWait, "cpu"): reads_to_the_host,
    (HostWait, "cuda"): lead_of_the_host,
    (MemoryPeak, "cpu"): peak_of_the_process,
    (MemoryPeak, "cuda"): peak_of_the_device,
}


def figure_of(work: Work, kind: Kind) -> Callable[[TimedWorker], Figure]:
    """How it is measured on this kind of device."""
    return next(figure for (measured, on), figure in FIGURES.items() if isinstance(work, measured) and on == kind)
