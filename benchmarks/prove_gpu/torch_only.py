"""Measure the speed of a GPU with only torch and the standard library: python torch_only.py [SECONDS [cuda]]

This file works without the rest of the project. It prints one JSON value per line: a string is a remark, an object is a
row of a table. The most important measurements come first, and measurements are omitted if no time is left.
"""

import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Literal

import torch
from torch import Tensor

OUT = sys.stdout
KIND = "cuda" if torch.cuda.is_available() else "cpu"
UNFINISHED = 4  # exit code if not everything was measured in time
SECONDS = "20"
WARM_UP_SECONDS = 2.0 if KIND == "cuda" else 0.1
EACH_SECONDS = 0.25 if KIND == "cuda" else 0.02  # duration of a measurement
BLOCKS = 10
IMPORTANT = 10  # number of products to measure before the copies
DTYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "tf32": torch.float32,
    "fp32": torch.float32,
    "fp8": torch.float8_e4m3fn,
    "int8": torch.int8,
}
SQUARE = 8192 if KIND == "cuda" else 256
OTHER_SQUARES = (1024, 2048, 4096, 16384) if KIND == "cuda" else (128,)
COURSE = (16384, 32768, 8192) if KIND == "cuda" else (512, 1024, 512)  # rows, inner, columns of `linear_forward`
COPIED = 2**30 if KIND == "cuda" else 2**20  # number of bytes to copy
CHECKED = 256  # number of rows and columns of a product for which the error is computed
DEVICES = Path(__file__).resolve().parents[2] / "torchkata/speed/devices.toml"  # may not exist
READINGS = re.compile(
    "driver version|cuda version|product name|persistence|mig mode|compute mode|ecc mode|temperature|temp$|power"
    "|clocks|reasons|fb memory usage",
    re.IGNORECASE,
)


def show(value: object) -> None:
    """Print a remark or a row as one line of JSON."""
    print(json.dumps(value, ensure_ascii=False), file=OUT, flush=True)


def round_figure(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}")


def synchronize() -> None:
    """Wait until the device has finished its queued work."""
    if KIND == "cuda":
        torch.cuda.synchronize()


def allow_tf32(allowed: bool) -> None:
    """Let products of float32 matrices be computed in TF32, or not. Since torch 2.9, the older setting warns."""
    if hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        torch.backends.cuda.matmul.fp32_precision = "tf32" if allowed else "ieee"
    else:
        torch.set_float32_matmul_precision("high" if allowed else "highest")


class HostEvent:
    """A stand-in for a CUDA event on a CPU, where calls return when their work is done."""

    def record(self) -> None:
        """Record the time."""
        self.at = time.perf_counter()

    def elapsed_time(self, end: "HostEvent") -> float:
        """Return the time from this event to another, in milliseconds."""
        return 1e3 * (end.at - self.at)


def record_event() -> Any:
    """Record an event after all work that is already queued."""
    event: Any = torch.cuda.Event(enable_timing=True) if KIND == "cuda" else HostEvent()  # type: ignore[no-untyped-call]
    event.record()
    return event


@dataclass(frozen=True)
class Timed:
    """The seconds per call: in each block, measured with events, and in all blocks, measured with the host's clock."""

    by_events: list[float]
    by_host: float


def time_calls(work: Callable[[], object], flush: Callable[[], object] | None = None) -> Timed:
    """Time ten blocks of calls. With `flush`, time ten single calls instead, and flush the cache before each one."""
    for _ in range(3):  # the first calls load kernels
        synchronize()
        began = time.perf_counter()
        work()
        synchronize()
        once = time.perf_counter() - began
    calls = 1 if flush else max(1, round(EACH_SECONDS / BLOCKS / once))
    pairs = []
    began = time.perf_counter()
    if flush:
        for _ in range(BLOCKS):
            flush()
            begin = record_event()
            work()
            pairs.append((begin, record_event()))
    else:
        events = [record_event()]
        for _ in range(BLOCKS):
            for _ in range(calls):
                work()
            events.append(record_event())
        pairs = [*pairwise(events)]
    synchronize()
    took = time.perf_counter() - began
    return Timed([begin.elapsed_time(end) / 1e3 / calls for begin, end in pairs], took / BLOCKS / calls)


def make_matrix(rows: int, columns: int, dtype: torch.dtype, *, random: bool = True) -> Tensor:
    """Return a matrix that contains zeros, or values drawn uniformly from [−1, 1)."""
    made = torch.zeros(rows, columns, dtype=torch.float16 if dtype.itemsize == 1 else dtype, device=KIND)
    made = made.uniform_(-1, 1) if random else made
    return (127 * made if dtype == torch.int8 else made).to(dtype)


@dataclass(frozen=True)
class Product:
    """A matrix product to measure."""

    dtype: str
    rows: int
    inner: int
    columns: int
    data: Literal["random", "zeros"] = "random"
    cache: Literal["warm", "flushed"] = "warm"
    layout: Literal["A·B", "A·Bᵀ", "Aᵀ·B"] = "A·B"

    def measure(self) -> Iterator[dict[str, object]]:
        """Measure the product and yield its table row."""
        dtype, random = DTYPES[self.dtype], self.data == "random"
        allow_tf32(self.dtype == "tf32")
        a = make_matrix(self.rows, self.inner, dtype, random=random)
        b = make_matrix(self.inner, self.columns, dtype, random=random)
        if self.layout == "Aᵀ·B":
            a = a.T.contiguous().T
        if self.layout == "A·Bᵀ" or dtype.itemsize == 1:  # products in fp8 and int8 need a column-major B
            b = b.T.contiguous().T
        if self.dtype == "fp8":
            one = torch.ones((), device=KIND)
            work = partial(torch._scaled_mm, a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=True)
        elif self.dtype == "int8":
            work = partial(torch._int_mm, a, b)
        else:
            work = partial(torch.mm, a, b, out=torch.empty(self.rows, self.columns, dtype=dtype, device=KIND))
        timed = time_calls(work, get_flush() if self.cache == "flushed" else None)
        flops, seconds = 2 * self.rows * self.inner * self.columns, median(timed.by_events)
        peak = find_peak(self.dtype)
        yield {
            "dtype": self.dtype,
            "rows × inner × columns": f"{self.rows} × {self.inner} × {self.columns}",
            "layout": self.layout if dtype.itemsize > 1 else "A·Bᵀ",
            "data": self.data,
            "L2": self.cache,
            "TFLOP/s": round_figure(flops / seconds / 1e12),
            "MFU": f"{flops / seconds / peak:.3f}" if peak else "",
            "spread": f"{(max(timed.by_events) - min(timed.by_events)) / seconds:.1%}",
            "by the host's clock": "" if self.cache == "flushed" else round_figure(flops / timed.by_host / 1e12),
            "relative error": f"{compute_error(a, b, work()):.1e}" if random else "",
        }


def compute_error(a: Tensor, b: Tensor, c: Tensor) -> float:
    """Compute a corner of the product again in float64, and return the relative error of the given product."""
    right = a[:CHECKED].float().double() @ b[:, :CHECKED].float().double()
    return float((c[:CHECKED, :CHECKED].double() - right).norm() / right.norm())


@cache
def get_flush() -> Callable[[], object]:
    """Return a function that overwrites a buffer twice the size of the L2 cache."""
    size = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0) if KIND == "cuda" else 0
    return torch.empty(2 * (size or 2**20), dtype=torch.uint8, device=KIND).zero_


@cache
def find_peak(dtype: str) -> float | None:
    """Return the datasheet's dense peak of this device in FLOP/s, or None if it is unknown."""
    if KIND == "cpu" or sys.version_info < (3, 11) or not DEVICES.exists():
        return None
    import tomllib  # Python 3.11 or newer

    for device in tomllib.loads(DEVICES.read_text("utf-8"))["device"]:
        if device["name"] == torch.cuda.get_device_name() and dtype in device["peak"]:
            return float(device["peak"][dtype]) * 1e12
    return None


def list_products() -> Iterator[Product]:
    """Yield the matrix products to measure, the most important ones first."""
    square = (SQUARE, SQUARE, SQUARE)
    yield Product("bf16", *square)
    yield Product("bf16", *COURSE)
    yield Product("bf16", *square, data="zeros")
    for dtype in ("tf32", "fp32", "fp16", "fp8", "int8"):
        yield Product(dtype, *square)
    yield Product("bf16", *square, layout="A·Bᵀ")
    yield Product("bf16", *square, layout="Aᵀ·B")
    for cache_state in ("warm", "flushed"):
        for side in OTHER_SQUARES:
            yield Product("bf16", side, side, side, cache=cache_state)
    for dtype in ("fp16", "tf32", "fp32", "fp8"):
        if dtype != "fp8" or KIND == "cuda":  # some CPUs take 12 s for one such product
            yield Product(dtype, *COURSE)
        for side in OTHER_SQUARES:
            yield Product(dtype, side, side, side)


def measure_copies() -> Iterator[dict[str, object]]:
    """Yield the bandwidth of copies within the device and between device and host."""
    count = COPIED // 4
    a, b, c = (torch.zeros(count, device=KIND) for _ in range(3))
    host = torch.zeros(count // 4, pin_memory=KIND == "cuda")
    part = a[: count // 4]
    for name, moved, work in (
        ("copy", 2 * COPIED, partial(a.copy_, b)),
        ("triad a = b + s · c", 3 * COPIED, partial(torch.add, b, c, alpha=0.5, out=a)),
        ("pinned host to device", COPIED // 4, partial(part.copy_, host, non_blocking=True)),
        ("device to pinned host", COPIED // 4, partial(host.copy_, part, non_blocking=True)),
    ):
        timed = time_calls(work)
        spread = (max(timed.by_events) - min(timed.by_events)) / median(timed.by_events)
        rate = round_figure(moved / median(timed.by_events) / 1e9)
        yield {"transfer": name, "GB/s": rate, "spread": f"{spread:.1%}"}


def list_facts() -> Iterator[tuple[str, object]]:
    """Yield facts about the machine, torch and the device."""
    yield from (("Python", platform.python_version()), ("kernel", platform.release()), ("user", f"uid {os.getuid()}"))
    yield from (("torch", str(torch.__version__)), ("CUDA", str(torch.version.cuda)), ("cores", os.cpu_count()))
    if KIND == "cpu":
        yield "device", "none: a rehearsal on the CPU"
        return
    properties = torch.cuda.get_device_properties(0)
    yield from (("device", properties.name), ("compute capability", f"{properties.major}.{properties.minor}"))
    yield "multiprocessors", properties.multi_processor_count
    yield "memory", f"{properties.total_memory / 2**30:.1f} GiB"
    yield "L2", f"{getattr(properties, 'L2_cache_size', 0) / 2**20:g} MiB"
    yield "visible devices", torch.cuda.device_count()
    yield from read_cublas_versions()
    yield from read_driver(str(getattr(properties, "uuid", "")))


def read_cublas_versions() -> Iterator[tuple[str, object]]:
    """Multiply two matrices, and yield the versions of the cuBLAS libraries that torch loads to do so."""
    torch.mm(make_matrix(64, 64, torch.bfloat16), make_matrix(64, 64, torch.bfloat16))
    for path in sorted(set(re.findall(r"\S*libcublasLt\.so\S*", Path("/proc/self/maps").read_text()))):
        version = ctypes.CDLL(path).cublasLtGetVersion
        version.restype = ctypes.c_size_t
        yield "cuBLASLt", version()


def read_driver(uuid: str) -> Iterator[tuple[str, str]]:
    """Yield the modes, clocks, power, temperatures and throttling that `nvidia-smi -q` reports."""
    command = ["nvidia-smi", "-q", *(["-i", f"GPU-{uuid}"] if uuid else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        yield "nvidia-smi", f"no answer: {type(error).__name__}"
        return
    above: list[tuple[int, str]] = []
    for line in done.stdout.splitlines():
        indent = len(line) - len(line.lstrip())
        name, colon, value = (part.strip() for part in line.partition(" : "))
        above = [*((depth, title) for depth, title in above if depth < indent), (indent, name)]
        path = ": ".join(title for depth, title in above if depth)
        if colon and value not in ("N/A", "Not Active") and READINGS.search(path or name):
            yield path or name, value


def warm_up(seconds: float) -> float:
    """Multiply random bf16 matrices for this many seconds. Return the TFLOP/s, measured with the host's clock."""
    a, b = (make_matrix(SQUARE, SQUARE, torch.bfloat16) for _ in range(2))
    out, calls = torch.empty_like(a), 0
    synchronize()
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        for _ in range(10):
            torch.mm(a, b, out=out)
        synchronize()
        calls += 10
    return round_figure(calls * 2 * SQUARE**3 / (time.perf_counter() - began) / 1e12)


def list_tasks() -> Iterator[tuple[str, Callable[[], Iterator[dict[str, object]]]]]:
    """Yield the measurements with their names, the most important ones first."""
    products = [*list_products()]
    for product in products[:IMPORTANT]:
        yield str(product), product.measure
    yield "copies", measure_copies
    for product in products[IMPORTANT:]:
        yield str(product), product.measure


def main(seconds: str = SECONDS, kind: str = KIND) -> None:
    """Print all measurements for which there is time. Exit with a message if the device is missing."""
    if kind != KIND:
        sys.exit(f"torch {torch.__version__} (CUDA: {torch.version.cuda}) finds no CUDA device")
    until = time.monotonic() + float(seconds)
    for fact, value in list_facts():
        show({"fact": fact, "value": value})
    warm_up(WARM_UP_SECONDS)
    omitted = 0
    for name, measure in list_tasks():
        if time.monotonic() > until:
            omitted += 1
            continue
        try:
            for row in measure():
                show(row)
        except (AttributeError, RuntimeError) as error:  # no memory, or unknown to this torch or device
            show(f"{name}: {str(error).strip().partition(chr(10))[0]}")
    if omitted:
        print(f"{omitted} measurements were omitted for lack of time", file=sys.stderr)
        sys.exit(UNFINISHED)


if __name__ == "__main__":
    if not re.fullmatch(r"([\d.]+( cuda| cpu)?)?", " ".join(sys.argv[1:])):
        sys.exit("usage: python torch_only.py [SECONDS [cuda]]")
    main(*sys.argv[1:3])
