"""Two workloads of a right solution are timed on a pretended device, again and again; each time one call fails once.

Prints what became of them for each fault, as JSON; see `gpu_plumbing.py`.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from socket import socket
from typing import Any

from grader.sandbox import launch
from grader.sandbox.cuda import SIGNATURES
from grader.sandbox.launch import Sandbox
from grader.speed import chain, machine, rates, rest, setup
from grader.speed.machine import Demands, Machine
from grader.speed.session import About, SpeedJob, grade_speed
from grader.tests.gpu_plumbing import HERE, append, pretend
from torchkata.course import Tiers, course
from torchkata.speed import decision
from torchkata.speed.sizes import Kind, Size
from torchkata.speed.workload import work_of

FAILS = "FAKE_CUDA_FAILS"
SIZES = {"linear_forward": Size(batch=64, width=32, outputs=16), "sgd_step": Size(parameters=4096, rate=0.1)}
IN_WORKERS_ALONE = "cuMemImportFromShareableHandle"
NOT_IN_GRADER = ("cuInit", "cuDeviceGetAttribute", IN_WORKERS_ALONE)  # while it grades
OF_A_WORKER = (
    "cuMemGetAllocationGranularity",
    IN_WORKERS_ALONE,
    "cuMemAddressReserve",
    "cuMemMap",
    "cuMemSetAccess",
)
THIRD = 3  # the memory of a student's worker, after that of two baselines
FAULTY = f"""
import json, pathlib
def with_a_fault(self, order, usual=Bench.lay_out):
    workload, trusted, call = json.loads(pathlib.Path("/runtime/fault").read_text())
    if [order.workload, order.trusted] == [workload, trusted]:
        os.environ["{FAILS}"] = call
    usual(self, order)
Bench.lay_out = with_a_fault
"""


@dataclass(frozen=True)
class Fault:
    """A call that fails, in this process or in a worker for the first workload."""

    call: str
    where: str
    nth: int = 1

    def __str__(self) -> str:
        return f"{self.call}, {self.nth}, {self.where}"


IN_THE_CHAIN = [
    *(Fault(call, "chain") for call in SIGNATURES if call != IN_WORKERS_ALONE),
    Fault("cuDeviceGetAttribute", "chain", 2),
]
IN_GRADING = [
    *(Fault(call, "grader", nth) for call in SIGNATURES if call not in NOT_IN_GRADER for nth in (1, THIRD)),
    *(Fault(call, worker) for call in OF_A_WORKER for worker in ("baseline", "student")),
]


@dataclass
class Came:
    """What became of the workloads, and how many processes timed them."""

    outcomes: list[str]
    messages: list[str]
    processes: int = 0


def main() -> None:
    """All faults, and none."""
    sandbox = launch.launch("bwrap", setup.limits(), setup.timing(HERE))
    sandbox.wait_until_ready()
    pretend(sandbox)
    append(sandbox, "bench", FAULTY)
    make_quick()
    found: dict[str, object] = {}
    for fault in [None, *IN_THE_CHAIN, *IN_GRADING]:
        with failing(fault, sandbox):
            in_the_chain = fault is not None and fault.where == "chain"
            found[str(fault)] = chain.broken("cuda", sandbox) if in_the_chain else asdict(timed(sandbox))
    sandbox.close()
    print(json.dumps(found))


def make_quick() -> None:
    """Small sizes, short blocks, and a machine that is never restless: what is shown here is no speed."""
    machine.DEMANDS["cuda"] = Demands(block_seconds=0.001, warm_up_seconds=0.0, most_calls=2)
    vars(rest).update(PASS_BYTES=2**12, LOOK_SECONDS=0.0, BUSY=1e6)
    decision.disturbed = lambda *_: False
    vars(rates)["OWN_MARGIN"] = 100.0
    setup.missing = lambda kind: ""  # noqa: ARG005
    setup.machine = on_a_pretended_device
    for name, size in SIZES.items():
        type(work_of(name)).sizes = {"cuda": size}


def on_a_pretended_device(kind: Kind, student: socket, baseline: socket) -> Machine:
    """A device that nothing is known of."""
    return Machine(kind, "a pretended device", None, 2**22, setup.limits(), student, baseline, lambda: "")


@contextmanager
def failing(fault: Fault | None, sandbox: Sandbox) -> Iterator[None]:
    """Within, this call fails, in the grader until something is inconclusive."""
    in_a_worker = fault is not None and fault.where in ("baseline", "student")
    call = f"{fault.call}:{fault.nth}" if fault else ""
    order = [next(iter(SIZES)), fault.where == "baseline", call] if fault and in_a_worker else ["", False, ""]
    (sandbox.runtime / "fault").write_text(json.dumps(order))
    if call and not in_a_worker:
        os.environ[FAILS] = call
    yield
    os.environ.pop(FAILS, None)


def timed(sandbox: Sandbox) -> Came:
    """Both workloads, by thresholds that any right result reaches."""
    easy = {"cuda": Tiers(1e-6, 2e-6)}
    workloads: Any = tuple(replace(course().workloads[name], ratio=easy) for name in SIZES)
    came = Came([], [])
    for message in grade_speed(SpeedJob("solution", course().solutions(), (), workloads), "cuda", sandbox):
        if isinstance(message, About):
            came.processes += 1
            continue
        came.outcomes.append(message.row.outcome)
        came.messages.append(message.row.message)
        if message.row.outcome == "inconclusive":
            os.environ.pop(FAILS, None)
    return came


if __name__ == "__main__":
    main()
