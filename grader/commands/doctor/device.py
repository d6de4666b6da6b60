"""Measures the matmul speed and the memory bandwidth of a device, and compares them with its datasheet."""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec
import torch
from rich import box
from rich.console import Console
from rich.table import Table
from torch.utils.benchmark import Timer

from grader.base.errors import MachineError
from grader.speed import timing_device
from grader.speed.child import Send, receive_messages
from grader.speed.state import StateUnknown, read_state
from torchkata.inside.speed.sizes import Kind, product_flops
from torchkata.speed.bench import DEMANDS
from torchkata.speed.datasheets import device as find_device

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "fp32": torch.float32}
SIDES: dict[Kind, int] = {"cpu": 512, "cuda": 8192}  # number of rows and columns of each matrix
ELEMENTS: dict[Kind, int] = {"cpu": 2**25, "cuda": 2**26}  # per tensor: larger than any cache
BLOCK_SECONDS: dict[Kind, float] = {"cpu": 0.1, "cuda": 0.5}
BLOCKS = 5
SILENCE = 300.0  # maximum time of all measurements in seconds; float16 is slow on CPUs without hardware support


class DeviceSpeed(msgspec.Struct, frozen=True):
    """The measured rates of a device."""

    name: str
    kind: Kind
    driver: str
    torch: str
    flops: dict[str, float]  # FLOP/s of a matmul, by dtype
    bandwidth: dict[str, float]  # B/s of copy and triad


def measure_in_child(kind: Kind) -> DeviceSpeed:
    """Measure a device in a child process, because a driver may hang or crash. Raises MachineError if that fails."""

    def work(send: Send) -> None:
        send(msgspec.msgpack.encode(timing_device.find_missing(kind) or measure_device(kind)))

    for message in receive_messages(work, SILENCE):
        found = msgspec.msgpack.decode(message, type=str | DeviceSpeed)
        if isinstance(found, DeviceSpeed):
            return found
        raise MachineError(found)
    raise MachineError("the process that measures the device exited unexpectedly")


def measure_device(kind: Kind) -> DeviceSpeed:
    """Measure the rates of the device. A CPU is measured with one thread. For kind "cuda", this initializes CUDA."""
    torch.set_num_threads(1)
    name, driver = timing_device.cpu_name(), ""
    if kind == "cuda":
        name = torch.cuda.get_device_name()
        try:
            driver = read_state().driver
        except StateUnknown:
            driver = "unknown"
    flops, side, count = dict[str, float](), SIDES[kind], ELEMENTS[kind]
    for dtype_name, dtype in DTYPES.items():
        if dtype_name == "tf32" and kind == "cpu":
            continue
        allow_tf32(dtype_name == "tf32")
        x, y, z = (make_random(kind, dtype, side, side) for _ in range(3))
        flops[dtype_name] = product_flops(side, side, side) / time_work(kind, partial(torch.mm, x, y, out=z))
    a, b, c = (make_random(kind, torch.float32, count) for _ in range(3))
    bandwidth = {  # each element that is read or written counts once
        "copy": 8 * count / time_work(kind, partial(a.copy_, b)),
        "triad": 12 * count / time_work(kind, partial(torch.add, b, c, alpha=0.5, out=a)),
    }
    return DeviceSpeed(name, kind, driver, str(torch.__version__), flops, bandwidth)


def allow_tf32(allowed: bool) -> None:
    """Let products of float32 matrices be computed in TF32, or not. Since torch 2.9, the older setting warns."""
    if hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        torch.backends.cuda.matmul.fp32_precision = "tf32" if allowed else "ieee"
    else:
        torch.set_float32_matmul_precision("high" if allowed else "highest")


def make_random(kind: Kind, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Return random values, uniformly distributed in [−1, 1), instead of zeros, because GPUs multiply zeros faster."""
    return torch.empty(shape, dtype=dtype, device=kind).uniform_(-1, 1)


def time_work(kind: Kind, work: Callable[[], object]) -> float:
    """Warm up the device, time several blocks of calls, and return the smallest median duration in seconds."""
    timer = Timer("work()", globals={"work": work})
    timer.blocked_autorange(min_run_time=DEMANDS[kind].warm_up_seconds)
    return min(timer.blocked_autorange(min_run_time=BLOCK_SECONDS[kind]).median for _ in range(BLOCKS))


def print_speed(speed: DeviceSpeed, out: Console) -> None:
    """Print the measured values next to the datasheet values."""
    how = f"driver {speed.driver}" if speed.kind == "cuda" else "one core"
    unknown = "" if find_device(speed.name) else ": not in the table of devices"
    out.print(f"{speed.name} ({how}, torch {speed.torch}){unknown}")
    table = Table("", "measured", "datasheet", "share", "reported by others", box=box.SIMPLE_HEAD)
    for row in make_rows(speed):
        table.add_row(*row)
    out.print(table)


def make_rows(speed: DeviceSpeed) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    model = find_device(speed.name)
    unit, prefix = ("GFLOP/s", 1e9) if speed.kind == "cpu" else ("TFLOP/s", 1e12)
    for name, flops in speed.flops.items():
        peak = model.tflops.get(name) if model else None
        achieved = model.achieved.get(name) if model else None
        yield make_row(name, flops / prefix, unit, peak, achieved)
    for name, bandwidth in speed.bandwidth.items():
        yield make_row(name, bandwidth / 1e9, "GB/s", model.gb_s if model else None, None)


def make_row(name: str, value: float, unit: str, promised: float | None, achieved: float | None) -> tuple[str, ...]:
    """Return a row, using dashes for unknown values."""
    return (
        name,
        f"{value:.4g} {unit}",
        f"{promised:g}" if promised else "–",
        f"{value / promised:.2f}" if promised else "–",
        f"{achieved:g}" if achieved else "–",
    )
