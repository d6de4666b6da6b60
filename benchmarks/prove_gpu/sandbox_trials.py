"""The step that tries each feature of the kernel and the driver that GPU workers need."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from unittest import mock

from benchmarks import ROOT
from benchmarks.prove_gpu.place import Failed, Lacking, StepSettings, get_last_line
from benchmarks.prove_gpu.torch_only import show
from grader.sandbox import launch, mounts, syscalls
from grader.sandbox.mounts import Gpu, IsolationError
from grader.tests.support.programs import PROGRAMS
from grader.tests.support.sandbox_workers import AS_OTHER_USER
from grader.tests.support.shared_gpu_memory import FAKE_GPU, append_code, build, start_driver
from torchkata.seam.failures import AbortTest

GROUPS = (  # of system calls that the driver may need
    ("connect", "accept", "accept4"),
    ("socket", "socketpair", "bind", "listen"),
    ("clone", "clone3", "fork", "vfork", "execve"),
    ("prctl", "fcntl", "madvise", "ioctl"),
    ("getsockopt", "setsockopt"),
    ("mincore", "readahead", "fadvise64", "flock", "sched_setaffinity", "sched_setscheduler"),
    ("process_vm_readv", "pidfd_open", "pidfd_getfd", "io_uring_setup", "perf_event_open", "userfaultfd"),
)
KEEP_PROC = """
mount = libc.mount
libc.mount = lambda what, where, *rest: 0 if where == b"/proc" else mount(what, where, *rest)
"""
IN_WORKERS = {  # restrictions that a worker imposes on itself, and code for `confine.py` that lifts them
    "with the /proc of all workers": KEEP_PROC,
    "in the network namespace of all workers": "NEW_NETWORK = 0\n",
    "with privileges": "def drop_privileges(confinement, user): pass\n",
    "without limits of resources": "def limit_resources(confinement): pass\n",
}
COMMAND_SECONDS = 30.0  # on a busy machine, a trial takes ten; one that hangs leaves time for the others
UNSANDBOXED = ("IsolationError", "unshare")  # in the errors of a machine without bubblewrap or user namespaces
TIME_IS_UP = "the time of this step was up"  # in the error of a trial that was cut short

FORK = """
import torch
from grader.sandbox.inside import cuda, forks
def is_initialized():
    try:
        forks.demand_no_cuda()
    except forks.ForkError:
        return True
    return False
cuda.driver()
before = is_initialized()
torch.autograd.backward(torch.ones((), requires_grad=True) * 2)
first = is_initialized()
cuda.call("cuInit", 0)
print(f"CUDA initialized after loading the driver {before}, after backward() {first}, after cuInit {is_initialized()}")
raise SystemExit(0 if is_initialized() and not before else "demand_no_cuda does not tell whether CUDA is initialized")
"""


def try_sandbox(place: StepSettings) -> None:
    """Try each feature of the kernel and the driver that GPU workers need, even if an earlier one fails.

    A trial that does not fit into the remaining time is not started, and one that is cut short proves nothing.
    """
    with contextlib.ExitStack() as stack:
        device = place.gpu
        if device is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp"))  # workers have their own /tmp
            compiler = PROGRAMS["needs_compiler"]
            if compiler.list_missing():
                raise Lacking(f"needs {compiler.title}: {compiler.remedy}")
            build(Path(folder))
            device, os.environ["LD_LIBRARY_PATH"] = FAKE_GPU, folder
        trials = [*list_trials(place, device, fake=place.gpu is None)]
        chosen = place.take_in_time(trials, len(trials), "trials")
        faults = [fault for name, trial in chosen if (fault := run_trial(name, trial))]
    place.unfinished.extend(fault for fault in faults if TIME_IS_UP in fault)
    lacking = [fault for fault in faults if any(words in fault for words in UNSANDBOXED)]
    if failed := [fault for fault in faults if fault not in (*lacking, *place.unfinished)]:
        raise Failed("; ".join(failed))
    if lacking:
        raise Lacking(lacking[0])


def run_trial(name: str, trial: Callable[[], str]) -> str:
    """Run a trial and show its result. Return the error, or "" if the trial succeeded."""
    try:
        text, fault = trial(), ""
    except (Exception, AbortTest) as error:
        text = fault = f"{type(error).__name__}: {get_last_line(str(error))}"
    show({"trial": name, "outcome": text})
    return fault and f"{name}: {fault}"


@dataclass(frozen=True)
class Relaxation:
    """A restriction of workers that is lifted to find out whether the driver fails because of it."""

    title: str
    module: ModuleType
    name: str
    value: object


def list_relaxations() -> list[Relaxation]:
    """Return the relaxations: all calls first, because if that does not help, no single group of calls does."""
    every = tuple(map(str, Path("/dev").glob("nvidia*")))
    allowed = {names: {**syscalls.WITH_GPU, **dict.fromkeys(names, ((),))} for names in GROUPS}
    return [
        Relaxation("without the filter of system calls", syscalls, "build_filter", lambda **_: b""),
        Relaxation("with all GPUs' files", mounts, "GPU_DEVICES", every),
        *(Relaxation(title, launch, "copy_runtime", partial(copy_with, code)) for title, code in IN_WORKERS.items()),
        *(Relaxation(f"with {', '.join(names)}", syscalls, "WITH_GPU", rules) for names, rules in allowed.items()),
    ]


def copy_with(code: str, *, timed: bool) -> Path:
    """Copy the files that a worker needs, with code appended to `confine.py`."""
    runtime = mounts.copy_runtime(timed=timed)
    append_code(runtime, "confine", code)
    return runtime


def try_driver(device: Gpu) -> str:
    """Start the driver in a worker. Return "", or what failed. Raises IsolationError if there is no sandbox."""
    try:
        codes = start_driver(device)
    except IsolationError:
        raise
    except (Exception, AbortTest) as error:
        return get_last_line(str(error)) or type(error).__name__
    return f"result codes {codes}" if any(codes) else ""


def find_cause(device: Gpu, relaxations: Iterable[Relaxation]) -> str:
    """Start the driver with one restriction less at a time, and return the titles of the relaxations that help."""
    helps: list[str] = []
    for each in relaxations:
        if each.name == "WITH_GPU" and not any("filter" in title for title in helps):
            continue
        with mock.patch.object(each.module, each.name, each.value):
            fault = try_driver(device)
        show({"the driver in a worker": each.title, "outcome": fault or "it works"})
        helps += [] if fault else [each.title]
    return "; ".join(helps) or "no single restriction"


def list_trials(place: StepSettings, device: Gpu, *, fake: bool) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the trials with their names. Commands that they run are stopped when the step should end."""

    def run(*command: str) -> str:
        return run_command(*command, seconds=place.until - time.monotonic())

    def start() -> str:
        if fault := try_driver(device):
            relaxations = list_relaxations()
            tried = place.take_in_time(relaxations, len(relaxations), "restrictions")
            raise Failed(f"{fault}; it works {find_cause(device, tried)}")
        return "cuInit and the first context succeeded"

    def share(*before: str) -> str:
        pretended = ["--fake"] if fake else []
        printed = run(*before, sys.executable, "-m", "grader.tests.support.shared_gpu_memory", *pretended)
        worker = {"right": [True, True], "alive": 7}
        if json.loads(printed) != {"workers": [worker, worker], "violations": [], "left open": 0}:
            raise Failed(printed)
        return "2 workers with 2 right blocks each; the memory outlived them and no descriptor leaked"

    def refuse() -> str:
        try:
            return run(sys.executable, "-m", "benchmarks.prove_gpu.refused_calls").replace("\n", "; ")
        except Failed as error:  # an old kernel, or no libseccomp
            return f"unknown: {error}"

    yield "fork", lambda: run(sys.executable, "-c", FORK)
    yield "system calls of cuInit that the filter refuses", refuse
    yield "the driver in a worker", start
    yield "memory by descriptor, as this user", share
    if os.getuid() == 0:
        yield "memory by descriptor, as an ordinary user", lambda: share(*AS_OTHER_USER)


def run_command(*command: str, seconds: float) -> str:
    """Run a command and return its output. If it fails, raise Failed with the last line of its output.

    Raises Lacking if it has not ended after `seconds`, which are fewer than a trial may take.
    """
    most = max(COMMAND_SECONDS, seconds / 4)  # in a long run on a busy machine
    allowed = max(0.0, min(seconds, most))
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=allowed)
    except subprocess.TimeoutExpired:
        if allowed < most:
            raise Lacking(TIME_IS_UP) from None
        raise Failed(f"no end after {most:g} seconds") from None
    if done.returncode:
        raise Failed(get_last_line(done.stderr or done.stdout) or f"exit code {done.returncode}")
    return done.stdout.strip()
