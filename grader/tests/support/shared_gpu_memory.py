"""Shares GPU memory with a worker in the real sandbox, kills the worker, and prints the observations as JSON.

With `--fake`, `LD_LIBRARY_PATH` must contain a `libcuda.so.1` built from `fake_cuda.c`. In torch, host memory then
replaces GPU memory, both in this process and in the worker.
"""

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from socket import socket

from grader.sandbox import launch
from grader.sandbox.inside import cuda
from grader.sandbox.mounts import Gpu
from grader.sandbox.runner import WorkerRunner
from grader.speed import gpu, timing_device
from grader.speed.timed_worker import Task, TimedWorker
from grader.tests import ROOT
from grader.tests.support.sandbox_workers import open_worker
from torchkata.inside.speed.sizes import Size

FAKE_GPU = Gpu("GPU-0", 0)
HOST_MEMORY = """
def start_context(): call("cuInit", 0)
def as_tensor(address, size): return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)
torch.cuda.synchronize = lambda *_: None
torch.cuda.mem_get_info = lambda *_: (2**30, 2**30)
"""  # appended to `grader/sandbox/inside/cuda.py`, replaces GPU memory with host memory
ON_CPU = """
def lay_out_on_cpu(self, request, usual=TimedWork.lay_out):
    usual(self, request)
    self.request = msgspec.structs.replace(request, device="cpu")
TimedWork.lay_out = lay_out_on_cpu
"""  # appended to `grader/sandbox/inside/timed_work.py`
START_DRIVER = """
driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
answer = [driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)]
"""
DRIVER_SECONDS = 30.0
TASK = Task("linear_forward", "cuda", Size(batch=64, width=32, outputs=16), calls=2)


def build(folder: Path) -> None:
    """Build the library in a folder that workers can read."""
    folder.chmod(0o755)
    source, library = ROOT / "grader/tests/support/fake_cuda.c", folder / "libcuda.so.570.86"
    flags = ("-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1")
    subprocess.run(["cc", *flags, source, "-o", library], check=True)
    (folder / "libcuda.so.1").symlink_to(library.name)


def start_driver(device: Gpu) -> list[int]:
    """Call `cuInit` and create a context in a sandboxed worker, and return the result codes."""
    sandbox = launch.launch("bwrap", timing_device.get_limits(), timing_device.plan_workers(device))
    with contextlib.closing(sandbox):
        sandbox.wait_until_ready()
        limits = replace(timing_device.get_limits(), call_seconds=DRIVER_SECONDS, test_seconds=DRIVER_SECONDS)
        codes: list[int] = next(open_worker(sandbox, limits))(START_DRIVER, "import ctypes")
    return codes


def append_code(runtime: Path, module: str, text: str) -> None:
    """Append code to a module that workers have not imported yet, such as those that a first request needs."""
    with (runtime / f"grader/sandbox/inside/{module}.py").open("a") as file:
        file.write(text)


def count_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def try_worker(control: socket) -> dict[str, object]:
    """Run and check two blocks of the baseline, kill the worker, and then write to the shared memory."""
    timed = TimedWorker(control, timing_device.get_limits(), TASK, None)
    right = [timed.block(30.0).error <= timed.check.floor for _ in range(2)]
    timed.worker.runner.end()
    assert timed.device_memory is not None
    timed.device_memory.tensor.fill_(7)
    alive = int(timed.device_memory.tensor[-1])
    timed.close()
    return {"right": right, "alive": alive}


def main() -> None:
    """Run two workers in sequence."""
    fake = "--fake" in sys.argv
    device = FAKE_GPU if fake else gpu.choose_gpu()
    if isinstance(device, str):
        sys.exit(device)
    os.environ["CUDA_VISIBLE_DEVICES"] = device.uuid
    sandbox = launch.launch("bwrap", timing_device.get_limits(), timing_device.plan_workers(device))
    sandbox.wait_until_ready()
    if fake:
        exec(HOST_MEMORY, vars(cuda))
        append_code(sandbox.runtime, "cuda", HOST_MEMORY)
        append_code(sandbox.runtime, "timed_work", ON_CPU)
    control = sandbox.clone()
    violations = WorkerRunner(control, timing_device.get_limits()).find_violations(["/etc/passwd"])
    first, before = try_worker(control), count_descriptors()
    second, after = try_worker(control), count_descriptors()
    control.close()
    sandbox.close()
    print(json.dumps({"workers": [first, second], "violations": violations, "left open": after - before}))


if __name__ == "__main__":
    main()
