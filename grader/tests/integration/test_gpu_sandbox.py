"""The sandbox for GPU workers, without a GPU: what libcuda asks of the kernel, and shared memory."""

import errno
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.prove_gpu import permissions
from grader.sandbox import launch
from grader.sandbox.cuda import SIGNATURES
from grader.sandbox.launch import Sandbox
from grader.sandbox.runner import WorkerRunner
from grader.speed import setup
from grader.speed.paused_worker import PausedWorker
from grader.tests.conftest import python
from grader.tests.support.gpu_plumbing import HERE, with_driver
from grader.tests.support.processes import descendants
from grader.tests.support.submissions import LINEAR, handed_in
from grader.tests.support.workers import Ask, asking

LIMITS = setup.get_limits()

pytestmark = pytest.mark.usefixtures("needs_bwrap")


def code_with(driver: Path, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run this code with the driver's library at hand."""
    return with_driver(driver, "-c", code, **variables)


LACKING = "from grader.sandbox.cuda import lacking; print(lacking())"


@pytest.mark.parametrize(("lacks", "words"), [("0", ""), ("102", "virtual memory"), ("103", "by file descriptor")])
def test_a_device_that_cannot_share_memory_is_named(driver: Path, lacks: str, words: str) -> None:
    done = code_with(driver, LACKING, FAKE_CUDA_LACKS=lacks)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout
    assert bool(done.stdout.strip()) == bool(words)


CALLS = """
import os, torch
from grader.sandbox import cuda
from grader.tests.support.gpu_plumbing import at_address, descriptors
cuda.start_context, cuda.as_tensor, torch.cuda.synchronize = lambda: None, at_address, lambda: None
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
before = descriptors()
share_memory()
print(descriptors() - before)
for name in cuda.SIGNATURES:
    os.environ["FAKE_CUDA_FAILS"] = name
    try:
        share_memory()
    except cuda.CudaError as error:
        print(error)
"""


def test_memory_is_shared_and_failed_calls_are_named(driver: Path) -> None:
    done = code_with(driver, CALLS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["0", *(f"{name} failed with error 999" for name in SIGNATURES)]


def test_killed_workers_leave_their_memory_to_the_grader(driver: Path) -> None:
    done = with_driver(driver, "-m", "grader.tests.support.gpu_plumbing", "--pretended")
    assert done.returncode == 0, done.stderr
    worker = {"right": [True, True], "alive": 7}
    assert json.loads(done.stdout) == {"workers": [worker, worker], "violations": [], "left open": 0}


FORKS = """
import ctypes, threading
from grader.sandbox import forks
forks.demand_no_driver()
ctypes.CDLL("libcuda.so.1")
for demand in (forks.demand_no_driver, forks.demand_one_thread):
    try:
        demand()
    except forks.ForkError as error:
        print(error)
    threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


def test_a_process_that_has_loaded_the_driver_or_runs_threads_must_not_fork(driver: Path) -> None:
    done = code_with(driver, FORKS)
    assert done.returncode == 0, done.stderr
    driver_line, threads_line = done.stdout.splitlines()
    assert "has loaded the CUDA driver" in driver_line
    assert "1 more threads" in threads_line


AS_BUILT_FOR_CUDA = """
import mmap, tempfile, torch
held = []
def loads_the_driver(usual):
    def function(*args, **options):
        with tempfile.NamedTemporaryFile(prefix="libcuda.so.") as file:
            file.write(bytes(1))
            file.flush()
            held.append(mmap.mmap(file.fileno(), 0))
        return usual(*args, **options)
    return function
torch.autograd.backward = loads_the_driver(torch.autograd.backward)
torch.cuda.is_available = loads_the_driver(torch.cuda.is_available)
torch.cuda.device_count = loads_the_driver(torch.cuda.device_count)
"""  # what such a torch does when it is first asked for a device, or for a gradient


def started(monkeypatch: pytest.MonkeyPatch, code: str) -> Sandbox:
    """A sandbox for workers on a GPU whose zygote runs this code when it has imported torch."""
    copy = launch.copy_runtime

    def with_code(*, timed: bool) -> Path:
        runtime = copy(timed=timed)
        with (runtime / "torchkata/compat/torch_internals.py").open("a") as file:
            file.write(code)
        return runtime

    monkeypatch.setattr(launch, "copy_runtime", with_code)
    return launch.launch("bwrap", LIMITS, setup.plan_workers(HERE))


@pytest.fixture(scope="module")
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """One for workers that are timed on a GPU, and that never saw one."""
    request.getfixturevalue("needs_bwrap")
    with pytest.MonkeyPatch.context() as monkeypatch:
        made = started(monkeypatch, AS_BUILT_FOR_CUDA)
    made.wait_until_ready()
    yield made
    made.close()


@pytest.fixture(scope="module")
def ask(sandbox: Sandbox) -> Iterator[Ask]:
    """Run a student's code in such a worker."""
    yield from asking(sandbox)


def test_a_gpu_worker_can_do_nothing_else_that_it_should_not(sandbox: Sandbox) -> None:
    with sandbox.clone() as control:
        assert WorkerRunner(control, LIMITS).find_violations(["/etc/passwd"]) == []


def test_ended_gpu_worker_is_gone(sandbox: Sandbox) -> None:
    with sandbox.clone() as control:
        worker = PausedWorker(control, LIMITS)
        worker.start({})
        running = descendants(sandbox.process.pid)
        worker.end()
        assert len(running - descendants(sandbox.process.pid)) == 1, "the driver frees its memory after its end"


def test_a_zygote_that_has_loaded_the_driver_says_so_and_starts_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = started(monkeypatch, f"{AS_BUILT_FOR_CUDA}torch.cuda.is_available()")
    with pytest.raises(launch.IsolationError, match="this process has loaded the CUDA driver"):
        sandbox.wait_until_ready()


GRADE = f"{AS_BUILT_FOR_CUDA}from grader.cli import main\nmain()"
LOADED = f"{AS_BUILT_FOR_CUDA}torch.cuda.is_available()\nfrom grader.cli import main\nmain()"


def test_a_class_is_graded_without_a_sandbox_by_a_torch_that_would_load_the_driver(tmp_path: Path) -> None:
    (path,) = handed_in(tmp_path / "class", LINEAR, "ada")
    options = ["--out", str(tmp_path / "out"), "--kata", "linear", "--examples", "5", "--isolation", "none"]
    done = python("-c", GRADE, "grade", str(path), *options)
    assert (done.code, "linear" in done.out) == (0, True), done.err
    done = python("-c", LOADED, "grade", str(path), *options, "--force")
    assert (done.code, "this process has loaded the CUDA driver" in done.err) == (3, True)


WANTED = {  # what libcuda is publicly known to ask of the kernel, beside what `fake_cuda.c` asks
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
}
ACCEPT = """
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("\\0mine")
s.listen(1)
s.setblocking(False)
s.accept()"""
TRY = """
try:
    exec({code!r}, globals())
    answer = torch.tensor([[0.0]])
except OSError as error:
    answer = torch.tensor([[float(error.errno)]])
"""
IMPORTS = "import mmap, socket, threading"


def test_the_driver_starts_in_a_gpu_worker(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    assert permissions.start_driver(HERE) == permissions.STARTED


@pytest.mark.parametrize("name", WANTED)
def test_a_gpu_worker_may_do_what_the_driver_needs(ask: Ask, name: str) -> None:
    assert float(ask(TRY.format(code=WANTED[name]), IMPORTS)) == 0


def test_a_gpu_worker_cannot_accept_a_connection(ask: Ask) -> None:
    assert float(ask(TRY.format(code=ACCEPT), IMPORTS)) in (errno.EPERM, errno.EACCES)


def test_a_gpu_worker_sees_one_device_and_keeps_no_cache(ask: Ask) -> None:
    expected = {"CUDA_VISIBLE_DEVICES": "GPU-0", "CUDA_CACHE_DISABLE": "1"}
    code = f"assert {expected}.items() <= os.environ.items() or 1 / 0"
    assert float(ask(TRY.format(code=code))) == 0
