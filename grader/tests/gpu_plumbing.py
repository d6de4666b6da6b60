"""A timed worker in the real sandbox shares the memory of a pretended device with this process.

`LD_LIBRARY_PATH` leads to a `libcuda.so.1` that is made of `fake_cuda.c`. Where torch would be asked for the device,
memory of the host stands in, here and in the worker. Prints what came of it as JSON.
"""

import ctypes
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from socket import socket

import torch
from torch import Tensor

from grader.sandbox import cuda, launch
from grader.sandbox.launch import Gpu
from grader.sandbox.runner import WorkerRunner
from grader.speed import setup
from grader.speed.timed_worker import Task, TimedWorker
from torchkata.speed.sizes import Size

HERE = "GPU-0"
IN_WORKERS = """
import ctypes
def start_context(): pass
def as_tensor(address, size): return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)
torch.cuda.synchronize = lambda: None
"""
TASK = Task("linear_forward", "cuda", Size(batch=64, width=32, outputs=16), calls=2)


def at_address(address: int, size: int) -> Tensor:
    """What torch would make of it on a GPU."""
    return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)


def pretend() -> None:
    """Let memory of the host stand for the device's."""
    cuda.start_context = lambda: None
    cuda.as_tensor = at_address
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.mem_get_info = lambda *_: (2**30, 2**30)


def descriptors() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def one_worker(control: socket) -> dict[str, object]:
    """Two blocks of the baseline's, checked; then the worker is killed, and its memory must go on here."""
    timed = TimedWorker(control, setup.limits(), TASK, None)
    right = [timed.block(30.0).error <= timed.check.floor for _ in range(2)]
    timed.worker.runner.end()
    assert timed.device_memory is not None
    timed.device_memory.tensor.fill_(7)
    alive = int(timed.device_memory.tensor[-1])
    timed.close()
    return {"right": right, "alive": alive}


def main() -> None:
    """All of it."""
    pretend()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as accelerator:
        accelerator.write(Path(cuda.__file__).read_text() + IN_WORKERS)
        accelerator.flush()
        timing = replace(setup.timing(Gpu(HERE, 0)), accelerator=Path(accelerator.name))
        sandbox = launch.launch("bwrap", setup.limits(), timing)
    sandbox.wait_until_ready()
    control = sandbox.clone()
    violations = WorkerRunner(control, setup.limits()).violations(["/etc/passwd"])
    first, before = one_worker(control), descriptors()
    second, after = one_worker(control), descriptors()
    control.close()
    sandbox.close()
    print(json.dumps({"workers": [first, second], "violations": violations, "left open": after - before}))


if __name__ == "__main__":
    main()
