"""A simulated machine: clocks and a GPU that run on simulated time.

It lets a probe observe which operations are timed, without a GPU and regardless of this machine's load. Products are
computed on the CPU, and only their durations are simulated.
"""

import time
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from torchkata import DispatchMode

CLOCKS = ("perf_counter", "monotonic", "time", "process_time", "thread_time")
REAL: dict[str, Any] = {f"{clock}{unit}": getattr(time, f"{clock}{unit}") for clock in CLOCKS for unit in ("", "_ns")}
REAL |= {name: getattr(time, name) for name in ("sleep", "clock_gettime", "clock_gettime_ns") if hasattr(time, name)}
CALENDAR = 1.7e9  # seconds since 1970
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")


@dataclass(frozen=True)
class Product:
    """A matrix multiplication that was computed."""

    seconds: float
    whole: bool  # has as many FLOPs as the product to be timed
    cold: bool  # the first of its shape, if that takes longer
    timed: bool  # after the first reading of a clock


@dataclass
class Machine:
    """The machine's time and the remaining work of its device."""

    seconds: Sequence[float]  # durations of consecutive products, repeated cyclically
    flops: int  # FLOPs of such a product; the time of other products is proportional
    first: float = 0.0  # additional seconds of the first product of a shape
    launch: float = 0.0  # seconds that the host needs to queue a product
    tick: float = 0.0  # seconds to read a clock
    on_gpu: bool = False
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
        """Record a product. The last two shapes are those of its matrices."""
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
        """Return the reading of a clock, which takes one tick."""
        self.looks += 1
        self.now += self.tick
        if clock == "time":
            return CALENDAR + self.now + self.steps[self.looks % len(self.steps)]
        threads = 2 if len(self.steps) > 1 and clock in ("process_time", "thread_time") else 1
        return threads * self.now

    def sleep(self, seconds: float) -> None:
        """Advance the time."""
        self.now += seconds


class Products(DispatchMode):  # type: ignore[no-untyped-call]
    """A mode that reports to the machine every product and every value read by the host."""

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


class OnDevice(Tensor):
    """A CPU tensor that claims to be on a GPU."""

    device = property(lambda _: torch.device("cuda", 0))
    is_cuda = property(lambda _: True)
    is_cpu = property(lambda _: False)

    def get_device(self) -> int:
        """Return the first device's index."""
        return 0

    def cpu(self, *_: Any, **__: Any) -> Tensor:
        """Wait for the device, as a copy to the host would."""
        if Machine.running:
            Machine.running.wait()
        return self.as_subclass(Tensor)


class Factories(TorchFunctionMode):
    """A mode that turns new tensors for the GPU into instances of OnDevice."""

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run the function without the `device` argument, because that device is not available."""
        kwargs = dict(kwargs or {})
        place = kwargs.get("device")
        if place is None or torch.device(place).type != "cuda":
            return func(*args, **kwargs)
        del kwargs["device"]
        result = func(*args, **kwargs)
        return result.as_subclass(OnDevice) if isinstance(result, Tensor) else result


class Event:
    """A CUDA event in the simulated device's queue."""

    def __init__(self, *_: object, enable_timing: bool = False, **__: object) -> None:
        self.enable_timing = enable_timing
        self.at: float | None = None

    def record(self, *_: object) -> None:
        """Record the time at which all queued work is done."""
        machine = get_machine()
        machine.looks += 1
        self.at = max(machine.now, machine.done)

    def query(self) -> bool:
        """Return True if the device has reached the event."""
        return self.at is None or get_machine().now >= self.at

    def synchronize(self) -> None:
        """Wait until the device has reached the event."""
        get_machine().now = max(get_machine().now, self.at or 0.0)

    wait = synchronize

    def elapsed_time(self, end: "Event") -> float:
        """Return the elapsed milliseconds. Raises RuntimeError in the same cases as CUDA."""
        if not (self.enable_timing and end.enable_timing) or self.at is None or end.at is None:
            raise RuntimeError("both events must have been recorded with enable_timing=True")
        if not (self.query() and end.query()):
            raise RuntimeError("device not ready")
        return 1e3 * (end.at - self.at)


def get_machine() -> Machine:
    """Return the simulated machine. Raises RuntimeError if there is none."""
    if Machine.running is None:
        raise RuntimeError("no machine is being simulated")
    return Machine.running


@contextmanager
def simulating(machine: Machine) -> Iterator[None]:
    """Replace the clocks of this process, and torch's GPU if the machine has one, with simulated ones."""
    with ExitStack() as stack:

        def put(place: object, name: str, value: object) -> None:
            stack.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, value)

        put(Machine, "running", machine)
        for name in REAL:
            put(time, name, make_clock(name))
        put(timeit, "default_timer", time.perf_counter)
        for function in (timeit.timeit, timeit.repeat, timeit.Timer.__init__):
            defaults = function.__defaults__ or ()
            put(function, "__defaults__", tuple(replace_clock(value) for value in defaults))
        if machine.on_gpu:
            for place, names in make_gpu(machine).items():
                for name, value in names.items():
                    put(place, name, value)
            stack.enter_context(Factories())
        stack.enter_context(Products(machine))
        yield


def replace_clock(value: object) -> object:
    """Replace perf_counter, which timeit uses as a default argument."""
    return time.perf_counter if value is REAL["perf_counter"] else value


def make_clock(name: str) -> Callable[..., Any]:
    """Return a simulated function of the module `time`. It calls the real one after the simulation has ended."""

    def call(*args: Any) -> Any:
        machine = Machine.running
        if machine is None:
            return REAL[name](*args)
        if name == "sleep":
            return machine.sleep(*args)
        clock = name_clock(*args) if name.startswith("clock_gettime") else name.removesuffix("_ns")
        seconds = machine.look(clock)
        return round(seconds * 1e9) if name.endswith("_ns") else seconds

    return call


def name_clock(number: int) -> str:
    """Return the name of the system clock with the given number."""
    if number == time.CLOCK_REALTIME:
        return "time"
    return "process_time" if number in (time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID) else "monotonic"


@contextmanager
def do_nothing(*_: object, **__: object) -> Iterator[None]:
    """Do nothing when a device or stream is selected, because there is only one."""
    yield


def make_gpu(machine: Machine) -> dict[Any, dict[str, object]]:
    """Return replacements for torch's GPU functions, keyed by module and name."""
    device = torch.device("cuda", 0)
    stream = SimpleNamespace(
        synchronize=machine.wait, query=lambda: machine.now >= machine.done, device=device, wait_event=machine.wait
    )
    common: dict[str, object] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "synchronize": machine.wait,
        "current_stream": lambda *_: stream,
    }
    return {
        torch.accelerator: {**common, "current_accelerator": lambda *_, **__: torch.device("cuda")},
        torch.cuda: {
            **common,
            "default_stream": lambda *_: stream,
            "Event": Event,
            "device": do_nothing,
            "stream": do_nothing,
            "init": lambda: None,
            "is_initialized": lambda: True,
            "current_device": lambda: 0,
            "set_device": lambda _: None,
            "empty_cache": lambda: None,
            "get_device_name": lambda *_: "a simulated GPU",
        },
        torch: {"Event": Event},
    }
