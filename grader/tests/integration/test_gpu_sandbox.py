"""Tests of the sandbox for GPU workers without a GPU: the kernel features that libcuda needs, and shared memory.

`test_prove_gpu.py` runs the trials of `benchmarks/prove_gpu/sandbox_trials.py`, which also start workers.
"""

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.prove_gpu import sandbox_trials, torch_only
from grader.sandbox import launch, mounts, syscalls
from grader.sandbox.inside import confine
from grader.sandbox.inside.cuda import SIGNATURES
from grader.sandbox.launch import Sandbox
from grader.sandbox.runner import WorkerRunner
from grader.speed import timing_device
from grader.speed.paused_worker import PausedWorker
from grader.tests.conftest import Run, run_program
from grader.tests.support.processes import find_descendants
from grader.tests.support.sandbox_workers import Ask, open_worker
from grader.tests.support.shared_gpu_memory import FAKE_GPU
from grader.tests.support.submissions import LINEAR, write_submissions

seccomp = pytest.importorskip("pyseccomp")
LIMITS = timing_device.get_limits()


def run_with_driver(driver: Path, *arguments: str, **variables: str) -> Run:
    """Run Python with the fake driver."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(driver), **variables}
    return run_program(sys.executable, *arguments, environment=environment)


pytestmark = pytest.mark.usefixtures("needs_bwrap")


def test_restriction_that_stops_the_driver_is_named(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    monkeypatch.setattr(torch_only, "OUT", io.StringIO())
    without = {name: cases for name, cases in syscalls.WITH_GPU.items() if name != "bind"}
    monkeypatch.setattr(syscalls, "WITH_GPU", without)
    needed = ("socket, socketpair, bind, listen", "getsockopt, setsockopt", "the filter")
    tried = [each for each in sandbox_trials.list_relaxations() if any(words in each.title for words in needed)]
    found = sandbox_trials.find_cause(FAKE_GPU, tried)
    assert found == "without the filter of system calls; with socket, socketpair, bind, listen"


RESTRICTIONS = """
import resource
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
pids = [name for name in os.listdir("/proc") if name.isdecimal()]
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
answer = [len(pids) == 1, os.readlink("/proc/self/ns/net"), int(status["CapEff"], 16) == 0, limit == OPEN_FILES]
""".replace("OPEN_FILES", str(confine.OPEN_FILES))


def read_restrictions() -> list[bool]:
    """Return whether GPU workers have a /proc and a network of their own, no capabilities, and limits."""
    sandbox = launch.launch("bwrap", LIMITS, timing_device.plan_workers(FAKE_GPU))
    with contextlib.closing(sandbox):
        sandbox.wait_until_ready()
        workers = [open_worker(sandbox, LIMITS) for _ in range(2)]
        first, second = ([*next(worker)(RESTRICTIONS)] for worker in workers)
        for worker in workers:
            next(worker, None)
    return [first[0], first[1] != second[1], *first[2:]]


@pytest.mark.parametrize("title", sandbox_trials.IN_WORKERS)
def test_each_restriction_of_workers_can_be_lifted(driver: Path, monkeypatch: pytest.MonkeyPatch, title: str) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    (relaxation,) = [each for each in sandbox_trials.list_relaxations() if each.title == title]
    monkeypatch.setattr(relaxation.module, relaxation.name, relaxation.value)
    lifted = [each for each, holds in zip(sandbox_trials.IN_WORKERS, read_restrictions(), strict=True) if not holds]
    assert lifted == [title]


REFUSED = """
import ctypes, os, threading
driver, refused = ctypes.CDLL("libcuda.so.1"), []
def execute():
    try:
        os.execv("/bin/true", ["true"])
    except OSError as error:
        refused.append(error.errno)
thread = threading.Thread(target=execute)
thread.start()
thread.join()
print(driver.cuInit(0), refused)
"""


def test_calls_that_the_filter_refuses_are_listed(driver: Path) -> None:
    number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, "execve")
    done = run_with_driver(driver, "-m", "benchmarks.prove_gpu.refused_calls", REFUSED)
    result, refused = done.out.splitlines()
    assert (done.code, result) == (0, f"0 [{errno.EPERM}]"), done.err
    assert f"execve ({number}) ×1" in refused
    assert "bind" not in refused, "the driver may bind a socket"


LACKING = "from grader.sandbox.inside.cuda import lacking; print(lacking())"


@pytest.mark.parametrize(("lacks", "words"), [("0", ""), ("102", "virtual memory"), ("103", "by file descriptor")])
def test_device_that_cannot_share_memory_is_reported(driver: Path, lacks: str, words: str) -> None:
    done = run_with_driver(driver, "-c", LACKING, FAKE_CUDA_LACKS=lacks)
    assert done.code == 0, done.err
    assert words in done.out
    assert bool(done.out.strip()) == bool(words)


CALLS = """
import os, torch
from grader.sandbox.inside import cuda
from grader.tests.support.shared_gpu_memory import HOST_MEMORY, count_descriptors
exec(HOST_MEMORY, vars(cuda))
def share_memory():
    assert cuda.lacking() == ""
    memory = cuda.CUDA.memory(100)
    descriptor = memory.descriptor()
    other = cuda.CUDA.memory(100, descriptor)
    memory.tensor.fill_(7)
    assert other.tensor.tolist() == [7] * 100
    os.close(descriptor)
    other.release()
    memory.release()
before = count_descriptors()
share_memory()
print(count_descriptors() - before)
for name in cuda.SIGNATURES:
    os.environ["FAKE_CUDA_FAILS"] = name
    try:
        share_memory()
    except cuda.CudaError as error:
        print(error)
"""


def test_gpu_memory_calls_work_or_report_error_code(driver: Path) -> None:
    done = run_with_driver(driver, "-c", CALLS)
    assert done.code == 0, done.err
    assert done.out.splitlines() == ["0", *(f"{name} failed with error 999" for name in SIGNATURES)]


AS_BUILT_FOR_CUDA = """
import ctypes, torch
driver = ctypes.CDLL("libcuda.so.1")
def initializes_cuda(usual):
    return lambda *args, **options: (driver.cuInit(0), usual(*args, **options))[1]
for module, name in (torch.autograd, "backward"), (torch.cuda, "is_available"), (torch.cuda, "device_count"):
    setattr(module, name, initializes_cuda(getattr(module, name)))
"""  # as a CUDA build of torch does: loads the driver at once, and initializes it for a device count or a gradient


def start_sandbox(monkeypatch: pytest.MonkeyPatch, driver: Path, code: str) -> Sandbox:
    """Start a sandbox for GPU workers. Its zygote runs the given code after importing torch."""
    copy = mounts.copy_runtime

    def with_code(*, timed: bool) -> Path:
        runtime = copy(timed=timed)
        with (runtime / "torchkata/inside/torch_internals.py").open("a") as file:
            file.write(code)
        return runtime

    monkeypatch.setattr(launch, "copy_runtime", with_code)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    return launch.launch("bwrap", LIMITS, timing_device.plan_workers(FAKE_GPU))


@pytest.fixture(scope="module")
def sandbox(request: pytest.FixtureRequest, driver: Path) -> Iterator[Sandbox]:
    """Return a sandbox for GPU workers in which torch initializes CUDA as soon as it looks for a device."""
    request.getfixturevalue("needs_bwrap")
    with pytest.MonkeyPatch.context() as monkeypatch:
        made = start_sandbox(monkeypatch, driver, AS_BUILT_FOR_CUDA)
    made.wait_until_ready()
    yield made
    made.close()


@pytest.fixture(scope="module")
def ask(sandbox: Sandbox) -> Iterator[Ask]:
    yield from open_worker(sandbox)


def test_self_test_finds_no_violations_in_gpu_worker(sandbox: Sandbox) -> None:
    with sandbox.clone() as control:
        assert WorkerRunner(control, LIMITS).find_violations(["/etc/passwd"]) == []


def test_gpu_worker_leaves_no_process_after_exit(sandbox: Sandbox) -> None:
    with sandbox.clone() as control:
        worker = PausedWorker(control, LIMITS)
        worker.start({})
        running = find_descendants(sandbox.process.pid)
        worker.end()
        assert len(running - find_descendants(sandbox.process.pid)) == 1, "only exit frees GPU memory"


def test_zygote_with_initialized_cuda_starts_no_worker(monkeypatch: pytest.MonkeyPatch, driver: Path) -> None:
    sandbox = start_sandbox(monkeypatch, driver, f"{AS_BUILT_FOR_CUDA}torch.cuda.is_available()")
    with pytest.raises(mounts.IsolationError, match="this process has initialized CUDA"):
        sandbox.wait_until_ready()


def test_grading_without_sandbox_rejects_initialized_cuda(tmp_path: Path, driver: Path) -> None:
    (path,) = write_submissions(tmp_path / "class", LINEAR, "ada")
    options = ["--out", str(tmp_path / "out"), "--kata", "linear", "--examples", "5", "--isolation", "none"]
    start = "from grader.cli import main\nmain()"
    done = run_with_driver(driver, "-c", f"{AS_BUILT_FOR_CUDA}{start}", "grade", str(path), *options)
    assert (done.code, "linear" in done.out) == (0, True), done.err
    done = run_with_driver(
        driver, "-c", f"{AS_BUILT_FOR_CUDA}torch.cuda.is_available()\n{start}", "grade", str(path), *options, "--again"
    )
    assert (done.code, "this process has initialized CUDA" in done.err) == (3, True)


WANTED = {  # system calls that libcuda is publicly known to make, in addition to those of `fake_cuda.c`
    "address space": "mmap.mmap(-1, 2**40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=0)",
    "threads": """
done = threading.Event()
threads = [threading.Thread(target=done.wait) for _ in range(40)]
for thread in threads:
    thread.start()
done.set()""",
    "descriptors": """
opened = [os.open(os.devnull, os.O_RDWR) for _ in range(200)]
for descriptor in opened:
    os.close(descriptor)""",
    "its own process": "assert open('/proc/self/maps').read() and os.stat('/proc/self/ns/pid')",
    "one device, no cache": "assert os.environ['CUDA_VISIBLE_DEVICES'] + os.environ['CUDA_CACHE_DISABLE'] == 'GPU-01'",
    "accepting a connection": """
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("\\0mine")
s.listen(1)
s.setblocking(False)
s.accept()""",
}

TRY = """
try:
    exec({code!r}, globals())
    answer = torch.tensor([[0.0]])
except OSError as error:
    answer = torch.tensor([[float(error.errno)]])
"""
IMPORTS = "import mmap, socket, threading"


@pytest.mark.parametrize("name", WANTED)
def test_gpu_worker_can_make_driver_system_calls(ask: Ask, name: str) -> None:
    refused = (errno.EPERM, errno.EACCES) if name == "accepting a connection" else (0,)
    assert float(ask(TRY.format(code=WANTED[name]), IMPORTS)) in refused
