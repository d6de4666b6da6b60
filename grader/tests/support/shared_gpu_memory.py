"""A timed worker in the real sandbox shares the memory of a device with this process, and is killed.

With `--fake`, `LD_LIBRARY_PATH` leads to a `libcuda.so.1` that is made of `fake_cuda.c`. Where torch would be
asked for the device, memory of the host stands in, here and in the worker. Prints what came of it as JSON.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from socket import socket

import torch
from torch import Tensor

from grader.sandbox import cuda, launch
from grader.sandbox.launch import Gpu, Sandbox
from grader.sandbox.runner import WorkerRunner
from grader.speed import gpu, setup
from grader.speed.timed_worker import Task, TimedWorker
from grader.tests import ROOT
from torchkata.speed.sizes import Size

FAKE_GPU = Gpu("GPU-0", 0)
IN_WORKERS = {
    "cuda": """
import ctypes
def start_context(): pass
def as_tensor(address, size): return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)
torch.cuda.synchronize = lambda: None
""",
    "timed_work": """
def begin(self, usual=TimedWork.begin):
    self.request = msgspec.structs.replace(self.request, device="cpu")
    usual(self)
TimedWork.begin = begin
""",
}
TASK = Task("linear_forward", "cuda", Size(batch=64, width=32, outputs=16), calls=2)


def build(folder: Path) -> str:
    """Make the library in a folder that every worker can reach; why that can't be done, "" if it is."""
    compiler = shutil.which("cc")
    if compiler is None:
        return "needs a C compiler: apt-get install gcc libc6-dev"
    folder.chmod(0o755)
    source, library = ROOT / "grader/tests/support/fake_cuda.c", folder / "libcuda.so.1"
    command = [compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ""


def run_with_driver(folder: Path, *python: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python where it finds this library."""
    return subprocess.run(
        [sys.executable, *python],
        cwd=ROOT,
        env={**os.environ, "LD_LIBRARY_PATH": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=600,
    )


def view_memory(address: int, size: int) -> Tensor:
    """What torch would make of it on a GPU."""
    return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)


def pretend(sandbox: Sandbox) -> None:
    """Let memory of the host stand for the device's, here and in workers to come."""
    cuda.start_context = lambda: None
    cuda.as_tensor = view_memory
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.mem_get_info = lambda *_: (2**30, 2**30)
    for module, text in IN_WORKERS.items():
        append_code(sandbox, module, text)


def append_code(sandbox: Sandbox, module: str, text: str) -> None:
    """More code at the end of what a timed worker imports when it is first asked for something."""
    with (sandbox.runtime / f"grader/sandbox/{module}.py").open("a") as file:
        file.write(text)


def count_descriptors() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def one_worker(control: socket) -> dict[str, object]:
    """Two blocks of the baseline's, checked; then the worker is killed, and its memory must go on here."""
    timed = TimedWorker(control, setup.get_limits(), TASK, None)
    right = [timed.block(30.0).error <= timed.check.floor for _ in range(2)]
    timed.worker.runner.end()
    assert timed.device_memory is not None
    timed.device_memory.tensor.fill_(7)
    alive = int(timed.device_memory.tensor[-1])
    timed.close()
    return {"right": right, "alive": alive}


def main() -> None:
    """All of it."""
    pretended = "--fake" in sys.argv
    device = FAKE_GPU if pretended else gpu.choose_gpu()
    if isinstance(device, str):
        sys.exit(device)
    os.environ["CUDA_VISIBLE_DEVICES"] = device.uuid
    sandbox = launch.launch("bwrap", setup.get_limits(), setup.plan_workers(device))
    sandbox.wait_until_ready()
    if pretended:
        pretend(sandbox)
    control = sandbox.clone()
    violations = WorkerRunner(control, setup.get_limits()).find_violations(["/etc/passwd"])
    first, before = one_worker(control), count_descriptors()
    second, after = one_worker(control), count_descriptors()
    control.close()
    sandbox.close()
    print(json.dumps({"workers": [first, second], "violations": violations, "left open": after - before}))


if __name__ == "__main__":
    main()
