"""The steps: each has a name, a claim, and a way to fail, which is an exception."""

import contextlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch

from benchmarks import ROOT
from benchmarks.prove_gpu import clock, permissions
from grader.commands import calibrate
from grader.commands.doctor import examine
from grader.proof.attacks import below, with_file
from grader.proof.cheat_run import is_restless, prove_times, time_all
from grader.proof.cheats import cheats, slow_ones
from grader.proof.proof import markdown
from grader.results.result import PerformanceResult
from grader.sandbox.launch import Gpu, Sandbox, connect_zygote
from grader.speed import setup
from grader.speed.machine import Machine
from grader.speed.session import Row, SpeedJob, grade_speed
from grader.speed.timed_worker import Task, TimedWorker
from grader.tests.support.workers import ORDINARY
from torchkata.course import Workload, course
from torchkata.speed.datasheets import device
from torchkata.speed.freivalds import OWN_MARGIN
from torchkata.speed.sizes import Kind
from torchkata.speed.workload import Rate, work_of

Say = Callable[[str], None]  # a line of the report; an empty one says only that work goes on
BLANK = " "

BLOCK_SECONDS = 60.0
COMMAND_SECONDS = 600.0
STEADY_SECONDS = 1.0  # for which free memory stays as it is, once all of it is back
LONGEST_SECONDS = 30.0
TEAR_DOWNS = 5
COLD_SECONDS: dict[Kind, float] = {"cuda": 60.0, "cpu": 0.0}
OFF: dict[Kind, float] = {"cuda": clock.AIM, "cpu": 0.9}  # by which two clocks may differ, on a CPU that others use
BUSY, BUSY_PROCESSES = "beside load", os.cpu_count() or 1
LEAST_SHARE = 0.5  # of a datasheet's bf16 peak
ASKED = (
    *("name", "driver_version", "compute_mode", "mig.mode.current", "persistence_mode"),
    *("memory.total", "power.limit", "clocks.max.sm", "clocks.max.memory", "temperature.gpu"),
)
AS_STUDENTS = ("-m", "gpu", "--impl", "solution")
FAULTY = {  # in the place of a right `Linear.forward`, and how that ends
    "raises": ("Linear.forward = lambda self, x: 1 / 0", "crashed"),
    "ends Python": ("import os\nLinear.forward = lambda self, x: os._exit(0)", "crashed"),
    "asks for too much memory": ("Linear.forward = lambda self, x: x.new_empty(2**50)", "crashed"),
    "never answers": ("def forward(self, x):\n    while True: pass\nLinear.forward = forward", "timed_out"),
    "is wrong": ("right = Linear.forward\nLinear.forward = lambda self, x: 1.05 * right(self, x)", "failed"),
}


class Failed(Exception):
    """What a step claims does not hold."""


@dataclass(frozen=True)
class Place:
    """Where the steps are taken."""

    kind: Kind
    device: Gpu | str  # or why there is none
    driver: Path | None = None  # of a rehearsal: the folder of the library that stands in for the driver's
    sandbox: Sandbox | None = None  # for workers that are timed, once it is there

    @property
    def gpu(self) -> Gpu:
        """The device. Raises Failed."""
        if isinstance(self.device, str):
            raise Failed(self.device)
        return self.device

    @property
    def environment(self) -> dict[str, str]:
        """What leads to the device."""
        if self.driver is not None:
            return {"LD_LIBRARY_PATH": str(self.driver)}
        return {"CUDA_VISIBLE_DEVICES": self.device.uuid} if isinstance(self.device, Gpu) else {}

    def zygote(self) -> Sandbox:
        """The sandbox, which is there."""
        assert self.sandbox is not None
        return self.sandbox

    def machine(self) -> Machine:
        """The device, for this process to use. Starts CUDA."""
        return setup.open_machine(self.kind, connect_zygote(self.zygote()), connect_zygote(self.zygote()))


@dataclass(frozen=True)
class Step:
    """One of them."""

    name: str
    claim: str
    run: Callable[[Place, Say], None]


def rows(say: Say, heading: Sequence[str]) -> Callable[..., None]:
    """A table of the report, a row for each call."""
    say(f"| {' | '.join(heading)} |")
    say(f"|{'---|' * len(heading)}")
    return lambda *cells: say(f"| {' | '.join(map(str, cells))} |")


def output(*command: str) -> str:
    """What a command prints. Raises Failed where it fails, with its last line."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=COMMAND_SECONDS)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise Failed(f"{Path(command[0]).name} {' '.join(command[1:4])}: {said[-1]}")
    return done.stdout.strip()


def the_device(place: Place, say: Say) -> None:
    """What it is, and its modes."""
    say(f"- torch {torch.__version__}, CUDA {torch.version.cuda}, Linux {platform.release()}, {setup.cpu_name()}")
    if place.kind == "cpu":
        say("- a rehearsal on the CPU: no figure below is a device's")
        return
    query = (f"--query-gpu={','.join(ASKED)}", "--format=csv,noheader", f"--id={place.gpu.uuid}")
    for name, value in zip(ASKED, output("nvidia-smi", *query).split(", "), strict=True):
        say(f"- {name}: {value}")


def the_machine(_place: Place, say: Say) -> None:
    """What `grader doctor` finds."""
    findings = list(examine())
    for finding in findings:
        say(f"- {finding.state}: {finding.what}: {finding.found}")
    if missing := [finding.what for finding in findings if finding.state == "missing"]:
        raise Failed(f"missing: {', '.join(missing)}")


FORK = """
import torch
from grader.sandbox import cuda, forks
forks.demand_no_driver()
torch.autograd.backward(torch.ones((), requires_grad=True) * 2)
def loads():
    try:
        forks.demand_no_driver()
    except forks.ForkError:
        return True
    return False
print(f"a first backward() loads the driver: {loads()}")
cuda.driver()
print(f"a process that has loaded it may fork: {not loads()}")
raise SystemExit(0 if loads() else "a process that has loaded the driver may fork")
"""


def forks(_place: Place, say: Say) -> None:
    """The assertion before each fork, with the real library."""
    for line in output(sys.executable, "-c", FORK).splitlines():
        say(f"- {line}")


def driver_in_the_sandbox(place: Place, say: Say) -> None:
    """With all permissions, then without each."""
    whole = permissions.started(place.gpu)
    row = rows(say, ("taken away", "`cuInit`, first context"))
    row("nothing", whole)
    if whole != permissions.STARTED:
        raise Failed(f"in a worker cuInit and a first context answer {whole}")
    for without, words in permissions.TAKEN_AWAY.items():
        found = permissions.started(place.gpu, without)
        row(words, f"{found}: {'not needed here' if found == permissions.STARTED else 'needed'}")


def memory_by_descriptor(place: Place, say: Say) -> None:
    """As this user and, where this is root, as an ordinary one."""
    pretended = ["--pretended"] if place.driver else []
    users: dict[str, Sequence[str]] = {"this user": ()} | ({"an ordinary user": ORDINARY} if os.getuid() == 0 else {})
    for user, before in users.items():
        command = (*before, sys.executable, "-m", "grader.tests.support.gpu_plumbing", *pretended)
        found = json.loads(output(*command))
        worker = {"right": [True, True], "alive": 7}
        if found != {"workers": [worker, worker], "violations": [], "left open": 0}:
            raise Failed(f"as {user}: {found}")
        say(f"- {user}: 2 workers, 2 right blocks each; the memory outlived them, and no descriptor is left")


def blocks(place: Place, say: Say) -> None:
    """The least block that there is, of plain torch and of the solution."""
    machine, files = place.machine(), course().solutions()
    row = rows(say, ("workload", "plain torch's error", "the solution's", "may be", "s"))
    for name in course().workloads:
        work = work_of(name)
        task = Task(name, place.kind, work.sizes[place.kind], calls=1)
        began = time.monotonic()
        plain, floor = error_of(TimedWorker(machine.baseline, machine.limits, task, None))
        theirs, _ = error_of(TimedWorker(machine.student, machine.limits, task, files))
        comparable = not isinstance(work, Rate) or work.same_as_baseline
        most = max(floor, OWN_MARGIN * plain) if comparable else floor
        took = f"{time.monotonic() - began:.1f}"
        row(name, f"{plain:.1e}" if comparable else "", f"{theirs:.1e}", f"{most:.1e}", took)
        if not theirs <= most < float("inf"):
            raise Failed(f"{name}: the solution's error is {theirs:.1e}, where {most:.1e} is right")


def error_of(timed: TimedWorker) -> tuple[float, float]:
    """Of one block, and what any right one may have."""
    try:
        return timed.block(BLOCK_SECONDS).error, timed.check.floor
    finally:
        timed.close()


def tear_down(place: Place, say: Say) -> None:
    """From SIGKILL until the process is gone, and from then until free memory rises no more."""
    machine, name = place.machine(), next(iter(course().workloads))
    task = Task(name, place.kind, work_of(name).sizes[place.kind], calls=1)
    for _ in range(TEAR_DOWNS):
        timed = TimedWorker(machine.baseline, machine.limits, task, None)
        timed.block(BLOCK_SECONDS)

        def free(timed: TimedWorker = timed) -> int:
            return torch.cuda.mem_get_info()[0] if place.kind == "cuda" else -timed.worker.read_memory().own

        before, began = free(), time.monotonic()
        timed.worker.end()
        gone = time.monotonic() - began
        returned, seconds = back_after(before, free)
        timed.close()
        say(f"- gone after {gone:.3f} s; {returned / 2**20:.0f} MiB came back, the last of them {seconds:.3f} s later")
        if returned <= 0:
            raise Failed(f"nothing came back within {LONGEST_SECONDS:g} s")


def back_after(before: int, free: Callable[[], int]) -> tuple[int, float]:
    """How many bytes came back, and after how many seconds the last of them."""
    began, most, at = time.monotonic(), before, 0.0
    while time.monotonic() - began < (at + STEADY_SECONDS if most > before else LONGEST_SECONDS):
        if (now := free()) > most:
            most, at = now, time.monotonic() - began
        time.sleep(0.001)
    return most - before, at


def ceilings(place: Place, say: Say) -> None:
    """As `grader calibrate` measures them; they are not stored."""
    calibration = calibrate.measure(place.kind)
    row = rows(say, ("", "measured", "datasheet", "share", "reported by others"))
    for cells in calibrate.make_rows(calibration):
        row(*cells)
    model = device(calibration.device)
    peak = model.tflops.get("bf16") if model else None
    if peak and calibration.flops["bf16"] < LEAST_SHARE * peak * 1e12:
        raise Failed(f"bf16 reaches {calibration.flops['bf16'] / peak / 1e12:.2f} of the datasheet's peak")


def clocks(place: Place, say: Say) -> None:
    """The same product by each clock, turn about."""
    row = rows(say, ("another clock", "ours as a share of it: median", "least", "most", "turns"))
    for name, shares in clock.shares(clock.measured(place.kind, place.zygote())).items():
        row(name, *(f"{share:.3f}" for share in (median(shares), min(shares), max(shares))), len(shares))
        if abs(median(shares) - 1) > OFF[place.kind] and (place.kind == "cuda" or "processor" in name):
            raise Failed(f"the grader's clock is {median(shares):.3f} of {name}, not within {OFF[place.kind]:g} of 1")


def solution(place: Place, say: Say) -> None:
    """All workloads: after a rest, again at once, and while all cores are busy."""
    time.sleep(COLD_SECONDS[place.kind])
    row = rows(say, ("", "workload", "outcome", "share", "interval", "MFU", "blocks", "s"))
    for when in ("cold", "hot", BUSY):
        with load() if when == BUSY else contextlib.nullcontext():
            for found in graded(place, course().solutions(), workloads()):
                row(when, *cells(found))
                restless = when == BUSY or place.kind == "cpu"
                if found.outcome not in (("passed", "inconclusive") if restless else ("passed",)):
                    raise Failed(f"{when}, {found.workload}: {found.outcome}: {found.message}")


def workloads() -> Sequence[Workload]:
    """Those that the solution is timed on."""
    return list(course().workloads.values())


def graded(place: Place, files: Mapping[str, bytes], timed: Sequence[Workload]) -> Iterator[PerformanceResult]:
    """What these files come to on each workload."""
    for message in grade_speed(SpeedJob("prove_gpu", files, (), tuple(timed)), place.kind, place.zygote()):
        if isinstance(message, Row):
            yield message.row


def cells(row: PerformanceResult) -> Iterator[str]:
    """A row of the report."""
    why = row.message.partition("\n")[0] if row.outcome == "inconclusive" else row.tier
    yield from (row.workload, f"{row.outcome}, {why}" if why else row.outcome)
    yield "" if row.ratio is None else f"{row.ratio:.2f}"
    yield "" if row.interval is None else f"{row.interval[0]:.2f} to {row.interval[1]:.2f}"
    yield "" if row.mfu is None else f"{row.mfu:.2f}"
    yield from (str(row.blocks or ""), f"{row.seconds:.1f}")


@contextlib.contextmanager
def load() -> Iterator[None]:
    """Within, every core has something else to do."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_PROCESSES)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def faulty(place: Place, say: Say) -> None:
    """Submissions that end badly, then the solution."""
    linear, right = course().katas["linear"], course().solutions()
    sources = {name: below(right["linear.py"].decode(), code) for name, (code, _) in FAULTY.items()}
    cases = [(name, with_file(linear, sources[name]), ends) for name, (_, ends) in FAULTY.items()]
    cases.append(("is an untouched stub", with_file(linear, course().stub("linear").read_text()), "not_started"))
    cases.append(("is right", right, "passed"))
    row = rows(say, ("a submission that", "ends", "message"))
    for name, files, ends in cases:
        (found,) = graded(place, files, [course().workloads["linear_forward"]])
        row(name, found.outcome, found.message.partition("\n")[0])
        if found.outcome != ends and not (ends == "passed" and is_restless(found)):
            raise Failed(f"what {name} is {found.outcome}, not {ends}: {found.message}")


def cheating(place: Place, say: Say) -> None:
    """The slow solutions and the cheats, which `grader certify --only cheats` tries on the CPU."""
    katas = list(course().katas.values())
    slow, fast = list(slow_ones(katas).values()), list(cheats(katas))
    proof = prove_times([*time_all(slow, fast, "bwrap", place.zygote(), lambda _: say(""), place.kind)])
    for line in markdown(proof.tables).splitlines()[1:]:
        say(line or BLANK)
    for note in proof.notes:
        say(f"- {note}")
    if proof.failed:
        raise Failed("; ".join(proof.failed))


def student_view(place: Place, say: Say) -> None:
    """`pytest -m gpu`."""
    pretended = [] if place.kind == "cuda" else ["-p", "grader.tests.support.pretended_gpu"]
    said = output(sys.executable, "-m", "pytest", *AS_STUDENTS, *pretended)
    for line in ("```", *said.splitlines(), "```"):
        say(line)


MACHINE = (
    Step("device", "one whole device is there, in modes in which two processes may take turns", the_device),
    Step("machine", "submissions can be graded in a sandbox", the_machine),
    Step("fork", "a process that has loaded the driver is not let fork", forks),
    Step("driver", "the driver starts in a worker, shut in as it is for grading", driver_in_the_sandbox),
    Step("memory", "a worker of another user maps the grader's memory, and may be killed", memory_by_descriptor),
)
TIMED = (
    Step("blocks", "a block of every workload is right, plain torch's and the solution's", blocks),
    Step("tear-down", "the memory of a killed worker comes back", tear_down),
    Step("calibrate", "the device reaches half of its datasheet in bf16, where it has one", ceilings),
    Step("clock", "the grader's clock says what other clocks say", clocks),
    Step("solution", "the solution passes every workload; beside load no worse than inconclusive", solution),
    Step("faults", "a submission that ends badly ends as itself, and harms nobody", faulty),
    Step("cheats", "no slow solution passes, and no cheat gains", cheating),
    Step("student", "the solution passes as a student times it", student_view),
)
