"""Measures what a device can do at most, by `torch.utils.benchmark`: our own code alone, in a child process."""

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
ELEMENTS: dict[Kind, int] = {"cpu": 2**25, "cuda": 2**28}  # far more than any cache holds
BLOCKS = 5
BLOCK_SECONDS: dict[Kind, float] = {"cpu": 0.1, "cuda": 0.5}
SHARE = 0.5  # of the free memory, for the tensors of one measurement


def measure(kind: Kind) -> Calibration:
    """All ceilings of the device that speed is graded on. Starts CUDA where that is asked for."""
    name, driver, free = settle(kind)
    torch.set_grad_enabled(False)
    return Calibration(
        device=name,
        kind=kind,
        date=datetime.now(UTC).date().isoformat(),
        torch=str(torch.__version__),
        flops=dict(products(kind, free)),
        bandwidth=dict(passes(kind, free)),
        driver=driver,
    )


def settle(kind: Kind) -> tuple[str, str, int]:
    """The device's name, driver and free bytes; a CPU is that of timed workers: one core, one thread."""
    if kind == "cuda":
        try:
            driver = read_state().driver
        except StateUnknown:
            driver = ""
        return torch.cuda.get_device_name(), driver, torch.cuda.mem_get_info()[0]
    torch.set_num_threads(1)
    core = setup.timing().core
    if core is not None:
        os.sched_setaffinity(0, {core})
    return setup.cpu_name(), "", os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def products(kind: Kind, free: int) -> Iterator[tuple[str, float]]:
    """FLOP/s by dtype, in the shape of `PRODUCT`, with fewer rows where memory is short."""
    for name, dtype in DTYPES[kind].items():
        size = fitting(PRODUCT[kind], dtype.itemsize, free)
        x, weight = random(kind, dtype, size.batch, size.width), random(kind, dtype, size.width, size.outputs)
        y = torch.empty(size.batch, size.outputs, dtype=dtype, device=kind)
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        flops = product_flops(size.batch, size.width, size.outputs)
        yield name, flops / seconds(kind, partial(torch.mm, x, weight, out=y))


def fitting(size: Size, itemsize: int, free: int) -> Size:
    """The size, or with so few rows that its product fits."""
    while size.batch > 1 and itemsize * numbers(size) > SHARE * free:
        size = replace(size, batch=size.batch // 2)
    return size


def numbers(size: Size) -> int:
    """In x, weight and y."""
    return size.batch * size.width + size.width * size.outputs + size.batch * size.outputs


def passes(kind: Kind, free: int) -> Iterator[tuple[str, float]]:
    """B/s of `a = b` and of `a = b + s · c`, in float32: each number that is read or written counts once."""
    count = min(ELEMENTS[kind], int(SHARE * free) // 12)
    a, b, c = (random(kind, torch.float32, count) for _ in range(3))
    yield "copy", 8 * count / seconds(kind, partial(a.copy_, b))
    yield "triad", 12 * count / seconds(kind, partial(torch.add, b, c, alpha=0.5, out=a))


def random(kind: Kind, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Uniform in [−1, 1): zeros are multiplied faster."""
    return torch.empty(shape, dtype=dtype, device=kind).uniform_(-1, 1)


def seconds(kind: Kind, work: Callable[[], object]) -> float:
    """The least of several blocks' medians, on a device that is warm."""
    timer = Timer("work()", globals={"work": work})
    timer.blocked_autorange(min_run_time=DEMANDS[kind].warm_up_seconds)
    return min(timer.blocked_autorange(min_run_time=BLOCK_SECONDS[kind]).median for _ in range(BLOCKS))
