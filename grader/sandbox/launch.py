"""Starts the zygote, in bubblewrap if possible, and ends it."""

import base64
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from grader.base.errors import MachineError
from grader.sandbox import syscalls
from grader.sandbox.inside import forks
from grader.sandbox.inside.confine import Confinement, hide_memory
from grader.sandbox.mounts import (
    LIBRARY_PATH,
    Gpu,
    IsolationError,
    build_bwrap_command,
    copy_runtime,
    find_interpreter,
    find_sites,
    is_public,
    list_sandbox_sites,
)
from torchkata.course import CourseError, Kata, Limits, course

Isolation: TypeAlias = Literal["auto", "bwrap", "none"]
START_SECONDS = 120.0  # importing torch from an uncached network drive can take this long
GRADER_MIB = 600  # memory of a grader and its zygote with torch loaded, excluding the workers


@dataclasses.dataclass(frozen=True)
class Timing:
    """Additional resources for the workers of speed tests."""

    arena_bytes: int  # size of the memory shared by a worker and the grader
    core: int | None = None  # the only core on which the worker may run
    gpu: Gpu | None = None


@dataclasses.dataclass
class Sandbox:
    """A running zygote. `clone()` returns a connection that can be used to start workers."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    runtime: Path
    isolation: Isolation
    gpu: Gpu | None = None
    violations: list[str] = dataclasses.field(default_factory=list)  # found by the self-test, see `proven_sandbox.py`

    def wait_until_ready(self) -> None:
        """Wait for the zygote. Raises IsolationError if it can't start, or CourseError if a probe can't be imported."""
        self.control.settimeout(START_SECONDS)
        with contextlib.suppress(OSError):
            if self.control.recv(1) == b"h":
                return
        errors = self.close().decode("utf-8", "replace").strip()
        if "bwrap: Unknown option" in errors:
            errors += "; bubblewrap 0.5 or newer is needed"
        last = errors.splitlines()[-1] if errors else "the worker process did not start"
        if last.startswith("tests/probes/"):
            raise CourseError(f"{course().root}/{last}")
        raise IsolationError(last)

    def clone(self) -> socket.socket:
        """Fork a zygote and return a connection to it. Raises IsolationError if the original zygote has exited."""
        ours, theirs = socket.socketpair()
        with theirs:
            ours.settimeout(START_SECONDS)
            with contextlib.suppress(OSError):
                socket.send_fds(self.control, [b"C"], [theirs.fileno()])
                if ours.recv(1) == b"c":
                    return ours
        ours.close()
        raise IsolationError("the process that starts workers has ended")

    def close(self) -> bytes:
        """End the zygote and all workers. The first call returns the error output of the zygote."""
        assert self.process.stderr is not None
        if self.process.stderr.closed:
            return b""
        self.control.close()
        if self.isolation == "bwrap":
            os.killpg(self.process.pid, signal.SIGKILL)  # a child of a bubblewrap that is still starting would survive
        else:
            self.process.kill()  # forked zygotes notice the closed connection and end their workers
        _, errors = self.process.communicate()
        shutil.rmtree(self.runtime, ignore_errors=True)
        return errors


def launch(
    isolation: Literal["bwrap", "none"],
    limits: Limits,
    timing: Timing = Timing(arena_bytes=0),
    katas: Iterable[Kata] = (),
) -> Sandbox:
    """Start a zygote, and return without waiting until it has imported the modules that these katas preload.

    Raises IsolationError if bubblewrap is missing.
    """
    if isolation == "bwrap" and shutil.which("bwrap") is None:
        raise IsolationError("bubblewrap is not installed (Debian: apt-get install bubblewrap)")
    hide_memory()
    confinement = build_confinement(isolation, limits, timing)
    runtime = copy_runtime(timed=timing.arena_bytes > 0)
    ours, theirs = socket.socketpair()
    config = {
        "runtime": "/runtime" if isolation == "bwrap" else str(runtime),
        "sites": list_sandbox_sites() if isolation == "bwrap" else [str(site) for site in find_sites()],
        "control": theirs.fileno(),
        "preload": [*dict.fromkeys(chain(course().preload, *(kata.preload for kata in katas)))],
        "probes": [path.stem for path in sorted((course().tests / "probes").glob("*.py")) if path.stem != "__init__"],
        "confinement": dataclasses.asdict(confinement),
        "arena_bytes": timing.arena_bytes,
    }
    program = f"{config['runtime']}/grader/sandbox/inside/zygote.py"
    command = [find_interpreter(), "-s", "-P", "-S", "-B", program, json.dumps(config)]
    if isolation == "bwrap":
        command = [*build_bwrap_command(runtime, timing.gpu), *command]
    with theirs:
        try:
            with use_cores(timing.gpu.cores if timing.gpu else frozenset()):
                process = subprocess.Popen(
                    command,
                    env=build_environment(timing.gpu),
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except OSError as error:
            ours.close()
            shutil.rmtree(runtime, ignore_errors=True)
            raise IsolationError(f"{command[0]}: {error.strerror}") from None
    return Sandbox(process, ours, runtime, isolation, timing.gpu)


@contextlib.contextmanager
def use_cores(cores: frozenset[int]) -> Iterator[None]:
    """Let the processes that are started within this context run only on these cores. If there are none, do nothing."""
    before = os.sched_getaffinity(0) if cores else set()
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        if cores:
            os.sched_setaffinity(0, before)


def build_confinement(isolation: Literal["bwrap", "none"], limits: Limits, timing: Timing) -> Confinement:
    """Return the restrictions of the workers. Raises IsolationError if a required system call filter is unavailable."""
    try:
        program = syscalls.build_filter(
            pinned=timing.core is not None, gpu=timing.gpu is not None, namespaces=isolation == "bwrap"
        )
    except syscalls.FilterError as error:
        if isolation == "bwrap":
            raise IsolationError(str(error)) from None
        program = b""
    root = os.getuid() == 0
    return Confinement(
        namespaces=isolation == "bwrap",
        change_user=root,
        keep_reading=root
        and isolation == "none"
        and not all(map(is_public, [Path(find_interpreter()), *find_sites()])),
        memory_mib=limits.memory_mib,
        cpu_seconds=int(2 * limits.kata_seconds) + 1,
        filter=base64.b64encode(program).decode(),
        own_pid=syscalls.OWN_PID,
        core=timing.core,
        gpu=timing.gpu is not None,
    )


def connect_zygote(sandbox: Sandbox) -> socket.socket:
    """Connect to a new zygote. Raises MachineError if that fails, so that no run continues with weaker isolation."""
    try:
        return sandbox.clone()
    except IsolationError as error:
        raise MachineError(f"the sandbox has failed: {error}") from None


def demand_no_cuda() -> None:
    """Raise MachineError if a child forked by this process would not be able to use a GPU."""
    try:
        forks.demand_no_cuda()
    except forks.ForkError as error:
        raise MachineError(str(error)) from None


def build_environment(gpu: Gpu | None) -> dict[str, str]:
    """Return all environment variables of a worker. They make at most one GPU visible."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    huge_pages = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # a process with huge pages can be forked faster
    hashing = {"PYTHONHASHSEED": "0"}  # the order of sets in student code must not vary between runs
    kept = {name: os.environ[name] for name in (LIBRARY_PATH,) if name in os.environ}
    fixed = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8:replace"}
    devices = {"CUDA_VISIBLE_DEVICES": gpu.uuid if gpu else "", "CUDA_CACHE_DISABLE": "1"}
    return fixed | threads | huge_pages | hashing | devices | kept
