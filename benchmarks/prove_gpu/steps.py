"""The steps of `prove_gpu`. A step that raises an exception has failed."""

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
from grader.proof.attacks import append_code, replace_kata
from grader.proof.cheat_run import is_noisy, prove_times, time_all
from grader.proof.cheats import load_cheats, load_slow
from grader.proof.proof import format_markdown
from grader.results.result import PerformanceResult
from grader.sandbox.launch import Gpu, Sandbox, connect_zygote
from grader.speed import setup
from grader.speed.machine import Machine
from grader.speed.session import Row, SpeedJob, grade_speed
from grader.speed.timed_worker import Task, TimedWorker
from grader.tests.support.sandbox_workers import AS_OTHER_USER
from torchkata.course import Workload, course
from torchkata.speed.datasheets import device
from torchkata.speed.freivalds import OWN_MARGIN
from torchkata.speed.sizes import Kind
from torchkata.speed.workload import Rate, work_of

Say = Callable[[str], None]  # adds a line to the report; an empty line only shows that the step is alive
BLANK = " "

BLOCK_SECONDS = 60.0
COMMAND_SECONDS = 600.0
STEADY_SECONDS = 1.0  # free memory that has not changed for this long counts as final
MAX_FREE_SECONDS = 30.0
TEAR_DOWNS = 5
COLD_SECONDS: dict[Kind, float] = {"cuda": 60.0, "cpu": 0.0}
CLOCK_TOLERANCE: dict[Kind, float] = {"cuda": clock.AIM, "cpu": 0.9}  # relative tolerance; the CPU may be busy
BUSY, BUSY_PROCESSES = "under load", os.cpu_count() or 1
MIN_PEAK_SHARE = 0.5  # of the datasheet's bf16 peak
QUERIES = (
    *("name", "driver_version", "compute_mode", "mig.mode.current", "persistence_mode"),
    *("memory.total", "power.limit", "clocks.max.sm", "clocks.max.memory", "temperature.gpu"),
)
AS_STUDENTS = ("-m", "gpu", "--impl", "solution")
FAULTY = {  # replacements for a correct `Linear.forward`, and the expected outcome
    "raises": ("Linear.forward = lambda self, x: 1 / 0", "crashed"),
    "ends Python": ("import os\nLinear.forward = lambda self, x: os._exit(0)", "crashed"),
    "asks for too much memory": ("Linear.forward = lambda self, x: x.new_empty(2**50)", "crashed"),
    "never answers": ("def forward(self, x):\n    while True: pass\nLinear.forward = forward", "timed_out"),
    "is wrong": ("right = Linear.forward\nLinear.forward = lambda self, x: 1.05 * right(self, x)", "failed"),
}


class Failed(Exception):
    """A step's claim does not hold."""


@dataclass(frozen=True)
class Place:
    """The device and sandbox that the steps use."""

    kind: Kind
    device: Gpu | str  # a GPU, or the reason why there is none
    driver: Path | None = None  # in a rehearsal: the folder of the simulated driver library
    sandbox: Sandbox | None = None  # for the timed steps

    @property
    def gpu(self) -> Gpu:
        """The GPU. Raises Failed if there is none."""
        if isinstance(self.device, str):
            raise Failed(self.device)
        return self.device

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that select the device."""
        if self.driver is not None:
            return {"LD_LIBRARY_PATH": str(self.driver)}
        return {"CUDA_VISIBLE_DEVICES": self.device.uuid} if isinstance(self.device, Gpu) else {}

    def get_sandbox(self) -> Sandbox:
        """Return the sandbox; only timed steps have one."""
        assert self.sandbox is not None
        return self.sandbox

    def open_machine(self) -> Machine:
        """Open the device in this process, which starts CUDA."""
        return setup.open_machine(self.kind, connect_zygote(self.get_sandbox()), connect_zygote(self.get_sandbox()))


@dataclass(frozen=True)
class Step:
    """A check and the claim that it verifies."""

    name: str
    claim: str
    run: Callable[[Place, Say], None]


def start_table(say: Say, heading: Sequence[str]) -> Callable[..., None]:
    """Start a table in the report and return a function that adds a row."""
    say(f"| {' | '.join(heading)} |")
    say(f"|{'---|' * len(heading)}")
    return lambda *cells: say(f"| {' | '.join(map(str, cells))} |")


def run_command(*command: str) -> str:
    """Return the output of a command. Raises Failed with its last line if it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=COMMAND_SECONDS)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise Failed(f"{Path(command[0]).name} {' '.join(command[1:4])}: {lines[-1]}")
    return done.stdout.strip()


def show_device(place: Place, say: Say) -> None:
    """Report the device and its modes."""
    say(f"- torch {torch.__version__}, CUDA {torch.version.cuda}, Linux {platform.release()}, {setup.cpu_name()}")
    if place.kind == "cpu":
        say("- a rehearsal on the CPU: the figures below are not those of a GPU")
        return
    query = (f"--query-gpu={','.join(QUERIES)}", "--format=csv,noheader", f"--id={place.gpu.uuid}")
    for name, value in zip(QUERIES, run_command("nvidia-smi", *query).split(", "), strict=True):
        say(f"- {name}: {value}")


def examine_machine(_place: Place, say: Say) -> None:
    """Report the findings of `grader doctor`."""
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
print(f"the first backward() loads the driver: {loads()}")
cuda.driver()
print(f"a process with the driver loaded may fork: {not loads()}")
raise SystemExit(0 if loads() else "a process with the driver loaded may fork")
"""


def check_forks(_place: Place, say: Say) -> None:
    """Check, with the real driver library, the assertion that precedes each fork."""
    for line in run_command(sys.executable, "-c", FORK).splitlines():
        say(f"- {line}")


def start_driver_in_sandbox(place: Place, say: Say) -> None:
    """Start the driver with all permissions, then without each of them."""
    whole = permissions.start_driver(place.gpu)
    row = start_table(say, ("permission removed", "`cuInit`, first context"))
    row("none", whole)
    if whole != permissions.STARTED:
        raise Failed(f"in a worker cuInit and a first context returned {whole}")
    for without, words in permissions.REMOVED.items():
        found = permissions.start_driver(place.gpu, without)
        row(words, f"{found}: {'not needed here' if found == permissions.STARTED else 'needed'}")


def share_memory(place: Place, say: Say) -> None:
    """Share device memory with workers through a descriptor, as this user and, if run as root, as an ordinary user."""
    pretended = ["--fake"] if place.driver else []
    users: dict[str, Sequence[str]] = {"this user": ()} | (
        {"an ordinary user": AS_OTHER_USER} if os.getuid() == 0 else {}
    )
    for user, before in users.items():
        command = (*before, sys.executable, "-m", "grader.tests.support.shared_gpu_memory", *pretended)
        found = json.loads(run_command(*command))
        worker = {"right": [True, True], "alive": 7}
        if found != {"workers": [worker, worker], "violations": [], "left open": 0}:
            raise Failed(f"as {user}: {found}")
        say(f"- {user}: 2 workers with 2 right blocks each; the memory outlived them and no descriptor leaked")


def check_blocks(place: Place, say: Say) -> None:
    """Check the smallest block of every workload, for plain torch and the solution."""
    machine, files = place.open_machine(), course().solutions()
    row = start_table(say, ("workload", "error of plain torch", "error of the solution", "limit", "s"))
    for name in course().workloads:
        work = work_of(name)
        task = Task(name, place.kind, work.sizes[place.kind], calls=1)
        began = time.monotonic()
        plain, floor = measure_error(TimedWorker(machine.baseline, machine.limits, task, None))
        error, _ = measure_error(TimedWorker(machine.student, machine.limits, task, files))
        comparable = not isinstance(work, Rate) or work.same_as_baseline
        limit = max(floor, OWN_MARGIN * plain) if comparable else floor
        took = f"{time.monotonic() - began:.1f}"
        row(name, f"{plain:.1e}" if comparable else "", f"{error:.1e}", f"{limit:.1e}", took)
        if not error <= limit < float("inf"):
            raise Failed(f"{name}: the solution's error is {error:.1e}, above the limit of {limit:.1e}")


def measure_error(timed: TimedWorker) -> tuple[float, float]:
    """Return the error of one block, and the largest error that a correct block may have."""
    try:
        return timed.block(BLOCK_SECONDS).error, timed.check.floor
    finally:
        timed.close()


def tear_down(place: Place, say: Say) -> None:
    """Kill workers; report the time until the process ends and until its memory is free again."""
    machine, name = place.open_machine(), next(iter(course().workloads))
    task = Task(name, place.kind, work_of(name).sizes[place.kind], calls=1)
    for _ in range(TEAR_DOWNS):
        timed = TimedWorker(machine.baseline, machine.limits, task, None)
        timed.block(BLOCK_SECONDS)

        def free(timed: TimedWorker = timed) -> int:
            return torch.cuda.mem_get_info()[0] if place.kind == "cuda" else -timed.worker.read_memory().own

        before, began = free(), time.monotonic()
        timed.worker.end()
        gone = time.monotonic() - began
        returned, seconds = wait_for_memory(before, free)
        timed.close()
        say(f"- ended after {gone:.3f} s; {returned / 2**20:.0f} MiB freed within another {seconds:.3f} s")
        if returned <= 0:
            raise Failed(f"no memory was freed within {MAX_FREE_SECONDS:g} s")


def wait_for_memory(before: int, free: Callable[[], int]) -> tuple[int, float]:
    """Return the number of bytes freed, and how many seconds that took."""
    began, most, at = time.monotonic(), before, 0.0
    while time.monotonic() - began < (at + STEADY_SECONDS if most > before else MAX_FREE_SECONDS):
        if (now := free()) > most:
            most, at = now, time.monotonic() - began
        time.sleep(0.001)
    return most - before, at


def measure_ceilings(place: Place, say: Say) -> None:
    """Benchmark the device like `grader calibrate`, without storing the result."""
    calibration = calibrate.measure(place.kind)
    row = start_table(say, ("", "measured", "datasheet", "share", "reported by others"))
    for cells in calibrate.make_rows(calibration):
        row(*cells)
    model = device(calibration.device)
    peak = model.tflops.get("bf16") if model else None
    if peak and calibration.flops["bf16"] < MIN_PEAK_SHARE * peak * 1e12:
        raise Failed(f"bf16 reaches {calibration.flops['bf16'] / peak / 1e12:.2f} of the datasheet's peak")


def compare_clocks(place: Place, say: Say) -> None:
    """Time the same matrix multiplication with each clock in turn."""
    row = start_table(say, ("clock", "ratio of the grader's rate to its rate: median", "minimum", "maximum", "turns"))
    for name, ratios in clock.compute_ratios(clock.measure_turns(place.kind, place.get_sandbox())).items():
        row(name, *(f"{ratio:.3f}" for ratio in (median(ratios), min(ratios), max(ratios))), len(ratios))
        if abs(median(ratios) - 1) > CLOCK_TOLERANCE[place.kind] and (place.kind == "cuda" or "processor" in name):
            raise Failed(f"ratio to {name} is {median(ratios):.3f}, expected 1 ± {CLOCK_TOLERANCE[place.kind]:g}")


def time_solution(place: Place, say: Say) -> None:
    """Time the solution on all workloads: after a pause, again immediately, and while all cores are busy."""
    time.sleep(COLD_SECONDS[place.kind])
    row = start_table(say, ("", "workload", "outcome", "share", "interval", "MFU", "blocks", "s"))
    for when in ("cold", "hot", BUSY):
        with load_cores() if when == BUSY else contextlib.nullcontext():
            for found in grade_files(place, course().solutions(), list_workloads()):
                row(when, *format_cells(found))
                restless = when == BUSY or place.kind == "cpu"
                if found.outcome not in (("passed", "inconclusive") if restless else ("passed",)):
                    raise Failed(f"{when}, {found.workload}: {found.outcome}: {found.message}")


def list_workloads() -> Sequence[Workload]:
    """Return the workloads on which the solution is timed."""
    return list(course().workloads.values())


def grade_files(place: Place, files: Mapping[str, bytes], timed: Sequence[Workload]) -> Iterator[PerformanceResult]:
    """Yield the result of the files on each workload."""
    for message in grade_speed(SpeedJob("prove_gpu", files, (), tuple(timed)), place.kind, place.get_sandbox()):
        if isinstance(message, Row):
            yield message.row


def format_cells(row: PerformanceResult) -> Iterator[str]:
    """Yield the cells of a row for a result."""
    why = row.message.partition("\n")[0] if row.outcome == "inconclusive" else row.tier
    yield from (row.workload, f"{row.outcome}, {why}" if why else row.outcome)
    yield "" if row.ratio is None else f"{row.ratio:.2f}"
    yield "" if row.interval is None else f"{row.interval[0]:.2f} to {row.interval[1]:.2f}"
    yield "" if row.mfu is None else f"{row.mfu:.2f}"
    yield from (str(row.blocks or ""), f"{row.seconds:.1f}")


@contextlib.contextmanager
def load_cores() -> Iterator[None]:
    """Keep every core busy."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_PROCESSES)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def time_faulty(place: Place, say: Say) -> None:
    """Time submissions that fail in various ways, then the solution."""
    linear, right = course().katas["linear"], course().solutions()
    sources = {name: append_code(right["linear.py"].decode(), code) for name, (code, _) in FAULTY.items()}
    cases = [(name, replace_kata(linear, sources[name]), ends) for name, (_, ends) in FAULTY.items()]
    cases.append(("is an untouched stub", replace_kata(linear, course().stub("linear").read_text()), "not_started"))
    cases.append(("is right", right, "passed"))
    row = start_table(say, ("submission", "outcome", "message"))
    for name, files, ends in cases:
        (found,) = grade_files(place, files, [course().workloads["linear_forward"]])
        row(name, found.outcome, found.message.partition("\n")[0])
        if found.outcome != ends and not (ends == "passed" and is_noisy(found)):
            raise Failed(f"a submission that {name} has outcome {found.outcome}, expected {ends}: {found.message}")


def time_cheats(place: Place, say: Say) -> None:
    """Time the slow solutions and the cheats, as `grader certify --only cheats` does on the CPU."""
    katas = list(course().katas.values())
    slow, fast = list(load_slow(katas).values()), list(load_cheats(katas))
    proof = prove_times([*time_all(slow, fast, "bwrap", place.get_sandbox(), lambda _: say(""), place.kind)])
    for line in format_markdown(proof.tables).splitlines()[1:]:
        say(line or BLANK)
    for note in proof.notes:
        say(f"- {note}")
    if proof.failed:
        raise Failed("; ".join(proof.failed))


def run_student_tests(place: Place, say: Say) -> None:
    """Run `pytest -m gpu` on the solution."""
    pretended = [] if place.kind == "cuda" else ["-p", "grader.tests.support.fake_gpu"]
    printed = run_command(sys.executable, "-m", "pytest", *AS_STUDENTS, *pretended)
    for line in ("```", *printed.splitlines(), "```"):
        say(line)


MACHINE = (
    Step("device", "there is one whole device, and two processes can share it", show_device),
    Step("machine", "submissions can be graded in a sandbox", examine_machine),
    Step("fork", "a process with the driver loaded cannot fork", check_forks),
    Step("driver", "the driver starts in a worker that is sandboxed as for grading", start_driver_in_sandbox),
    Step("memory", "a worker of another user maps the grader's memory and can be killed", share_memory),
)
TIMED = (
    Step("blocks", "plain torch and the solution compute a right block of every workload", check_blocks),
    Step("tear-down", "the memory of a killed worker is freed", tear_down),
    Step("calibrate", "the device reaches half of its datasheet's bf16 peak, if known", measure_ceilings),
    Step("clock", "the grader's clock agrees with other clocks", compare_clocks),
    Step("solution", "the solution passes every workload; under load it may be inconclusive", time_solution),
    Step("faults", "a faulty submission gets its own outcome and does not affect others", time_faulty),
    Step("cheats", "no slow solution passes, and no cheat gains points", time_cheats),
    Step("student", "the solution passes a student's timing tests", run_student_tests),
)
