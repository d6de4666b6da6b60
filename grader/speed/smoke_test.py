"""Before any submission is timed, one block of plain torch's own work goes through the whole chain."""

from socket import socket

from grader.sandbox.cuda import CudaError, lacking
from grader.sandbox.launch import Sandbox
from grader.speed import setup
from grader.speed.child import Send
from grader.speed.grading import in_a_line
from grader.speed.machine import Machine
from grader.speed.rates import Baseline
from grader.speed.session import on_device
from grader.speed.timed_worker import Task
from torchkata.course import course
from torchkata.seam.failures import Inconclusive
from torchkata.speed.sizes import Kind
from torchkata.speed.workload import Rate, work_of

BROKEN = "plain torch's own work can't be timed here"
SILENCE = 300.0  # seconds; a driver that hangs says nothing


def broken(kind: Kind, sandbox: Sandbox) -> str:
    """Why speed can't be graded here, "" if it can. Raises MachineError where the sandbox breaks down."""

    def work(student: socket, baseline: socket, send: Send) -> None:
        send(first_fault(kind, student, baseline).encode())

    found = [message.decode() for message in on_device(sandbox, work, SILENCE)]
    return found[0] if found else f"{BROKEN}: the process that times was lost, or hung"


def first_fault(kind: Kind, student: socket, baseline: socket) -> str:
    """What is missing, or where the chain breaks; "" for nothing. Starts CUDA: for a child process."""
    try:
        reason = setup.missing(kind) or (lacking() if kind == "cuda" else "")
        if not reason:
            machine = setup.machine(kind, student, baseline)
            reason = machine.trouble()
            if not reason:
                one_block(machine)
    except Inconclusive as error:
        return f"{BROKEN}: {error}"
    except (CudaError, OSError, RuntimeError) as error:  # torch's own are RuntimeErrors
        return f"{BROKEN}: {in_a_line(error)}"
    return reason


def one_block(machine: Machine) -> None:
    """One call of the first workload that plain torch's own result is known of. Raises whatever breaks."""
    works = {name: work_of(name) for name in course().workloads}
    known = [name for name, work in works.items() if isinstance(work, Rate) and work.same_as_baseline]
    for name in known[:1]:
        baseline = Baseline(machine, Task(name, machine.kind, works[name].sizes[machine.kind], calls=1))
        try:
            baseline.rate()
        finally:
            baseline.timed.close()
