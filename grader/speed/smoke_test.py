"""Smoke test: before submissions are timed, a block of plain torch runs through all timing steps."""

from socket import socket

from grader.sandbox.inside.cuda import CudaError, lacking
from grader.sandbox.launch import Sandbox
from grader.speed import timing_device
from grader.speed.child import Send
from grader.speed.machine import Machine
from grader.speed.timed_submission import run_on_device
from grader.speed.timed_worker import Task
from grader.speed.timed_workloads import format_error
from grader.speed.worker_bench import WorkerBench, choose_size
from torchkata.course import course
from torchkata.inside.speed.sizes import Kind
from torchkata.inside.speed.workload import work_of
from torchkata.seam.failures import Inconclusive
from torchkata.speed.bench import Baseline
from torchkata.speed.memory import NoRoom

BROKEN = "plain torch can't be timed here"
SILENCE = 300.0  # the driver is considered hung after this many seconds without a message


def run_smoke_test(kind: Kind, sandbox: Sandbox) -> str:
    """Return why this machine can't grade speed, or "". Raises MachineError if the sandbox fails."""

    def work(student: socket, baseline: socket, send: Send) -> None:
        send(find_first_fault(kind, student, baseline).encode())

    found = [message.decode() for message in run_on_device(sandbox, work, SILENCE)]
    return found[0] if found else f"{BROKEN}: the timing process died or hung"


def find_first_fault(kind: Kind, student: socket, baseline: socket) -> str:
    """Return a message about the first problem, or "". Initializes CUDA, so call this function in a child process."""
    try:
        reason = timing_device.find_missing(kind) or (lacking() if kind == "cuda" else "")
        if not reason:
            machine = timing_device.open_machine(kind, student, baseline)
            reason = machine.trouble()
            if not reason:
                time_one_block(machine)
    except (Inconclusive, NoRoom) as error:
        return f"{BROKEN}: {error}"
    except (CudaError, OSError, RuntimeError) as error:  # raised by torch
        return f"{BROKEN}: {format_error(error)}"
    return reason


def time_one_block(machine: Machine) -> None:
    """Let the baseline run one call of the first workload whose result must equal that of plain torch."""
    for name in [name for name in course().workloads if work_of(name).same_as_baseline][:1]:
        size, _ = choose_size(machine, course().workloads[name])
        bench = WorkerBench(machine, Task(name, machine.kind, size, calls=1))
        try:
            bench.start_baseline()
            Baseline(bench).run()
        finally:
            bench.close()
