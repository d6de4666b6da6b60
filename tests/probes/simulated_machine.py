"""A simulated machine: clocks and a GPU that run on simulated time, and a record of the copies to the GPU.

A probe can observe which operations are timed and how data is copied, without a GPU and regardless of this machine's
load. Operations run on the CPU. Only the durations of operations and the devices of tensors are simulated.
"""

import time
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from unittest.mock import MagicMock, patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from torchkata import DispatchMode

CLOCKS = ("perf_counter", "monotonic", "time", "process_time", "thread_time", "sleep", "clock_gettime")
REAL = {name: each for name, each in vars(time).items() if name.removesuffix("_ns") in CLOCKS}
CALENDAR = 1.7e9  # seconds since 1970
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")
GPU, ANY_GPU = torch.device("cuda", 0), torch.device("cuda")


@dataclass(frozen=True)
class Product:
    """A recorded matrix multiplication."""

    seconds: float
    whole: bool  # whether it has as many FLOPs as the product to be timed
    cold: bool  # whether it is the first of its shape and therefore takes longer
    timed: bool  # whether it was computed after the first reading of a clock


@dataclass
class Machine:
    """The machine's time and the remaining work of its device."""

    seconds: Sequence[float] = (0.0,)  # durations of consecutive products, repeated cyclically
    flops: int = 1  # FLOPs of such a product; the time of other products is proportional
    first: float = 0.0  # additional seconds of the first product of a shape
    launch: float = 0.0  # seconds that the host needs to queue a product
    tick: float = 0.0  # seconds to read a clock
    on_gpu: bool = False
    device: torch.device = GPU
    busy: float = 0.0  # seconds of other work queued on the device at the start
    steps: Sequence[float] = (0.0,)  # the system clock's offsets; if there are several, CPU clocks count two threads
    now: float = 1000.0
    looks: int = 0
    products: list[Product] = field(default_factory=list)
    shapes: set[tuple[object, ...]] = field(default_factory=set)

    running: ClassVar["Machine | None"] = None

    def __post_init__(self) -> None:
        self.done = self.now + self.busy  # when the device becomes idle

    def multiply(self, *shapes: tuple[int, ...]) -> None:
        """Record a matmul. The last two shapes are those of the multiplied matrices."""
        (*batch, m, k), (*_, n) = shapes[-2:]
        flops = 2 * m * k * n * (batch[0] if batch else 1)
        cold = self.first > 0 and shapes not in self.shapes
        seconds = self.seconds[len(self.products) % len(self.seconds)] * flops / self.flops + cold * self.first
        self.shapes.add(shapes)
        self.products.append(Product(seconds, flops == self.flops, cold, self.looks > 0))
        if self.on_gpu:
            self.now += self.launch
            self.done = max(self.now, self.done) + seconds
        else:
            self.now += seconds

    def wait(self, *_: object, **__: object) -> None:
        """Wait until the device is idle."""
        if self.on_gpu:
            self.now = max(self.now, self.done)

    def look(self, clock: str) -> float:
        """Return the time shown by a clock. Reading it takes one tick."""
        self.looks += 1
        self.now += self.tick
        if clock == "time":
            return CALENDAR + self.now + self.steps[self.looks % len(self.steps)]
        threads = 2 if len(self.steps) > 1 and clock in ("process_time", "thread_time") else 1
        return threads * self.now


class Products(DispatchMode):  # type: ignore[no-untyped-call]
    """A mode that reports every matmul, and every value read by the host, to the machine."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run the operation and report it."""
        result = func(*args, **(kwargs or {}))
        if func.name().partition(".")[0] in PRODUCTS:
            self.machine.multiply(*(tuple(arg.shape) for arg in args if isinstance(arg, Tensor)))
        if func is torch.ops.aten._local_scalar_dense.default:
            self.machine.wait()
        return result


PROPERTIES: dict[object, Callable[["SimulatedGpu", Tensor], object]] = {
    Tensor.device.__get__: lambda gpu, x: gpu.machine.device if gpu.holds(x) else x.device,
    Tensor.is_cuda.__get__: lambda gpu, x: gpu.holds(x),  # type: ignore[attr-defined]
    Tensor.is_cpu.__get__: lambda gpu, x: x.is_cpu and not gpu.holds(x),  # type: ignore[attr-defined]
    Tensor.get_device: lambda gpu, x: 0 if gpu.holds(x) else x.get_device(),
    Tensor.is_pinned: lambda gpu, x: gpu.is_pinned(x),
    Tensor.pin_memory: lambda gpu, x: x if gpu.is_pinned(x) else keep(gpu.pinned, x.clone()),
    Tensor.cpu: lambda gpu, x: gpu.copy_back(x) if gpu.holds(x) else x,
}


COPIES = (Tensor.to, Tensor.copy_, Tensor.type_as, Tensor.__setitem__, Tensor.__getitem__)  # also between devices


class SimulatedGpu(TorchFunctionMode):
    """A mode in which torch accepts "cuda". It records which storages are on this device or in pinned memory."""

    machine: Machine

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine
        self.copies: list[dict[str, Any]] = []  # copies from the CPU to the device
        self.memory: dict[int, Any] = {}  # storages by address, kept alive so that no address is used twice
        self.pinned: dict[int, Any] = {}

    def holds(self, x: object) -> bool:
        """Return whether `x` is a tensor on the device."""
        return isinstance(x, Tensor) and x.untyped_storage().data_ptr() in self.memory

    def is_pinned(self, x: object) -> bool:
        """Return whether `x` is a tensor in pinned memory."""
        return isinstance(x, Tensor) and x.untyped_storage().data_ptr() in self.pinned

    def copy_back(self, x: Tensor) -> Tensor:
        """Wait for the device, and return a copy of a tensor in the host's memory."""
        self.machine.wait()
        return x.clone()

    def __torch_function__(
        self, func: Any, types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call one of torch's functions or methods on the CPU, and record which tensors would be on the device."""
        if func in PROPERTIES:
            return PROPERTIES[func](self, args[0])
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        values = [*args, *(kwargs or {}).values()]
        flat = [x for value in values for x in (value if isinstance(value, list | tuple) else [value])]
        if func not in COPIES:
            self.refuse_mixed_devices(flat)
        on_cuda = func == Tensor.cuda or any(map(is_cuda, values))
        args = [torch.device("cpu") if is_cuda(value) else value for value in args]
        options = {name: torch.device("cpu") if is_cuda(value) else value for name, value in (kwargs or {}).items()}
        pin = options.pop("pin_memory", False)
        result = args[0] if func == Tensor.cuda else func(*args, **options)
        if func == Tensor.to and self.holds(values[0]) and any(map(is_cpu, values)):
            return self.copy_back(result)
        if func in (Tensor.to, Tensor.cuda) and (on_cuda or any(map(self.holds, values[1:]))):
            on_cuda, result = True, result.clone()
            self.record_copy(values[0], result, args, options)
        elif func in (torch.tensor, torch.as_tensor, torch.asarray) and on_cuda:
            result = result.clone()
            self.record_copy(values[0], result, (), {})
        elif func in (Tensor.copy_, Tensor.__setitem__) and self.holds(args[0]):
            source = values[1 if func == Tensor.copy_ else 2]
            self.record_copy(source, torch.as_tensor(source), args, options)
        if on_cuda or (any(map(self.holds, flat)) and result is not values[0]):
            keep(self.memory, result)
        return keep(self.pinned, result) if pin else result

    def refuse_mixed_devices(self, values: Sequence[object]) -> None:
        """Raise CUDA's error for an operation on tensors of both devices. A tensor without axes counts as a number."""
        tensors = [x for x in values if isinstance(x, Tensor)]
        if any(map(self.holds, tensors)) and any(x.ndim > 0 and x.numel() and not self.holds(x) for x in tensors):
            raise RuntimeError("Expected all tensors to be on the same device, but found two devices, cuda:0 and cpu")

    def record_copy(
        self, source: object, copied: Tensor, args: Sequence[object], options: Mapping[str, object]
    ) -> None:
        """Record a copy to the device. Numbers and tensors that are already on the device are ignored."""
        if copied.ndim > 0 and not self.holds(source):
            non_blocking = options.get("non_blocking", any(value is True for value in args[1:]))
            copy = {"pinned": self.is_pinned(source), "non_blocking": bool(non_blocking), "size": copied.numel()}
            self.copies.append(copy)


def is_cuda(place: object) -> bool:
    """Return whether `place` names a CUDA device."""
    return isinstance(place, str | torch.device) and str(place).partition(":")[0] == "cuda"


def is_cpu(place: object) -> bool:
    """Return whether `place` names the CPU."""
    return isinstance(place, str | torch.device) and str(place) == "cpu"


def keep(storages: dict[int, Any], x: Any) -> Any:
    """Record the storage of `x`, or of each tensor in `x`, and return `x`."""
    for each in x if isinstance(x, list | tuple) else [x]:
        if isinstance(each, Tensor) and each.numel():
            storages[each.untyped_storage().data_ptr()] = each.untyped_storage()
    return x


class Event:
    """A CUDA event in the simulated device's queue."""

    def __init__(self, *_: object, enable_timing: bool = False, **__: object) -> None:
        self.enable_timing = enable_timing
        self.machine = Machine.running or Machine()
        self.at: float | None = None

    def record(self, *_: object) -> None:
        """Record the time at which all queued work is done."""
        self.machine.looks += 1
        self.at = max(self.machine.now, self.machine.done)

    def query(self) -> bool:
        """Return True if the device has reached the event."""
        return self.at is None or self.machine.now >= self.at

    def synchronize(self) -> None:
        """Wait until the device has reached the event."""
        self.machine.now = max(self.machine.now, self.at or 0.0)

    wait = synchronize

    def elapsed_time(self, end: "Event") -> float:
        """Return the milliseconds between this event and `end`. Raises RuntimeError in the same cases as CUDA."""
        if not (self.enable_timing and end.enable_timing) or self.at is None or end.at is None:
            raise RuntimeError("both events must have been recorded with enable_timing=True")
        if not (self.query() and end.query()):
            raise RuntimeError("device not ready")
        return 1e3 * (end.at - self.at)


@contextmanager
def simulating(machine: Machine) -> Iterator[SimulatedGpu]:
    """Replace the clocks of this process, and torch's GPU if the machine has one, with simulated ones."""
    with ExitStack() as stack:

        def put(place: Any, **values: Any) -> None:
            stack.enter_context(patch.multiple(place, None, **values))

        gpu = SimulatedGpu(machine)
        put(Machine, running=machine)
        put(time, **{name: make_clock(name) for name in REAL})
        put(timeit, default_timer=time.perf_counter)
        for function in (timeit.timeit, timeit.repeat, timeit.Timer.__init__):  # their default is perf_counter
            old, new = REAL["perf_counter"], time.perf_counter
            put(function, __defaults__=tuple(new if value is old else value for value in function.__defaults__ or ()))
        if machine.on_gpu:
            stream = MagicMock(synchronize=machine.wait, query=lambda: machine.now >= machine.done, device=GPU)
            stream.wait_event = machine.wait
            common: dict[str, Any] = {"synchronize": machine.wait, "current_stream": lambda *_: stream}
            common |= {"is_available": lambda: True, "device_count": lambda: 1}
            put(torch.accelerator, **common, current_accelerator=lambda *_, **__: torch.device("cuda"))
            ignored = ("device", "stream", "Stream", "init", "set_device", "empty_cache")  # there is only one of each
            common |= {name: MagicMock() for name in ignored} | {"default_stream": lambda *_: stream, "Event": Event}
            common |= {"is_initialized": lambda: True, "get_device_name": lambda *_: "a simulated GPU"}
            put(torch.cuda, **common, current_device=lambda: 0)
            put(torch, Event=Event)
            stack.enter_context(gpu)
        stack.enter_context(Products(machine))
        yield gpu


def make_clock(name: str) -> Callable[..., Any]:
    """Return a simulated function of the `time` module. After the simulation, the function calls the real one."""

    def call(*args: Any) -> Any:
        machine = Machine.running
        if machine is None:
            return REAL[name](*args)
        if name == "sleep":
            machine.now += args[0]
            return None
        clock = name_clock(*args) if name.startswith("clock_gettime") else name.removesuffix("_ns")
        seconds = machine.look(clock)
        return round(seconds * 1e9) if name.endswith("_ns") else seconds

    return call


def name_clock(number: int) -> str:
    """Return the name of the system clock with the given number."""
    if number == time.CLOCK_REALTIME:
        return "time"
    return "process_time" if number in (time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID) else "monotonic"
