"""Measures the peak rates of a device with `torch.utils.benchmark`, in a child process without student code."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import torch
from torch.utils.benchmark import Timer

from grader.speed import setup
from grader.speed.calibration import Calibration
from grader.speed.machine import DEMANDS
from grader.speed.state import StateUnknown, read_state
from torchkata.speed.sizes import PRODUCT, Kind, Size, product_flops

DTYPES: dict[Kind, dict[str, torch.dtype]] = {
    "cpu": {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64},
    "cuda": {
        "fp32": torch.float32,
        "bf16": torch.bfloat16,
        "fp16": torch.float16,
        "tf32": torch.float32,
    },
}
ELEMENTS: dict[Kind, int] = {"cpu": 2**25, "cuda": 2**28}  # much larger than any cache
BLOCKS = 5
BLOCK_SECONDS: dict[Kind, float] = {"cpu": 0.1, "cuda": 0.5}
SHARE = 0.5  # fraction of the free memory used by a measurement


def measure_device(kind: Kind) -> Calibration:
    """Measure the peak rates of the device that speed is graded on. For kind "cuda", this initializes CUDA."""
    name, driver, free = prepare_device(kind)
    torch.set_grad_enabled(False)
    return Calibration(
        device=name,
        kind=kind,
        date=datetime.now(UTC).date().isoformat(),
        torch=str(torch.__version__),
        flops=dict(measure_products(kind, free)),
        bandwidth=dict(measure_bandwidth(kind, free)),
        driver=driver,
    )


def prepare_device(kind: Kind) -> tuple[str, str, int]:
    """Return the name, driver and free memory of the device. On a CPU, use only one core and one thread."""
    if kind == "cuda":
        try:
            driver = read_state().driver
        except StateUnknown:
            driver = ""
        return torch.cuda.get_device_name(), driver, torch.cuda.mem_get_info()[0]
    torch.set_num_threads(1)
    core = setup.plan_workers().core
    if core is not None:
        os.sched_setaffinity(0, {core})
    return setup.cpu_name(), "", os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def measure_products(kind: Kind, free: int) -> Iterator[tuple[str, float]]:
    """Yield the FLOP/s of a matmul for each dtype. The shapes are those of `PRODUCT`, with fewer rows if necessary."""
    for name, dtype in DTYPES[kind].items():
        size = shrink_to_fit(PRODUCT[kind], dtype.itemsize, free)
        x, weight = make_random(kind, dtype, size.batch, size.width), make_random(kind, dtype, size.width, size.outputs)
        y = torch.empty(size.batch, size.outputs, dtype=dtype, device=kind)
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        flops = product_flops(size.batch, size.width, size.outputs)
        yield name, flops / time_work(kind, partial(torch.mm, x, weight, out=y))


def shrink_to_fit(size: Size, itemsize: int, free: int) -> Size:
    """Halve the number of rows until the matmul fits into memory."""
    while size.batch > 1 and itemsize * count_elements(size) > SHARE * free:
        size = replace(size, batch=size.batch // 2)
    return size


def count_elements(size: Size) -> int:
    """Return the number of elements of x, weight and y."""
    return size.batch * size.width + size.width * size.outputs + size.batch * size.outputs


def measure_bandwidth(kind: Kind, free: int) -> Iterator[tuple[str, float]]:
    """Yield the B/s of `a = b` and `a = b + s · c` in float32. Each element that is read or written counts once."""
    count = min(ELEMENTS[kind], int(SHARE * free) // 12)
    a, b, c = (make_random(kind, torch.float32, count) for _ in range(3))
    yield "copy", 8 * count / time_work(kind, partial(a.copy_, b))
    yield "triad", 12 * count / time_work(kind, partial(torch.add, b, c, alpha=0.5, out=a))


def make_random(kind: Kind, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Return random values, uniformly distributed in [−1, 1), instead of zeros, because GPUs multiply zeros faster."""
    return torch.empty(shape, dtype=dtype, device=kind).uniform_(-1, 1)


def time_work(kind: Kind, work: Callable[[], object]) -> float:
    """Warm up the device, time several blocks of calls, and return the smallest median duration in seconds."""
    timer = Timer("work()", globals={"work": work})
    timer.blocked_autorange(min_run_time=DEMANDS[kind].warm_up_seconds)
    return min(timer.blocked_autorange(min_run_time=BLOCK_SECONDS[kind]).median for _ in range(BLOCKS))
