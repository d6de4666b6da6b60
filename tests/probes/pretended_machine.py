"""A machine whose time is pretended: clocks and a GPU that move only with what they are asked to do.

So a probe can tell what code times, without a GPU and whatever this machine is busy with. Products are really computed,
on the CPU; how long they took is made up.
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
    """A product of matrices that was done."""

    seconds: float
    whole: bool  # as many FLOPs as the one that is to be timed
    cold: bool  # the first of its shape, where that takes longer
    timed: bool  # a clock had been looked at before


@dataclass
class Machine:
    """Its time, and what its device has still to do."""

    seconds: Sequence[float]  # of one product after the other, again from the start when there are more
    flops: int  # of that product; another takes in proportion
    first: float = 0.0  # what the first product of a shape takes on top
    launch: float = 0.0  # what the host takes to queue a product
    tick: float = 0.0  # what it takes to read a clock
    on_gpu: bool = False
    busy: float = 0.0  # for how long the device has other work at the start
    steps: Sequence[float] = (0.0,)  # by how much the calendar has been set at each look; with several, threads count
    now: float = 1000.0
    looks: int = 0
    products: list[Product] = field(default_factory=list)
    shapes: set[tuple[object, ...]] = field(default_factory=set)

    running: ClassVar["Machine | None"] = None

    def __post_init__(self) -> None:
        self.done = self.now + self.busy  # when the device has done all that it was given

    def multiply(self, *shapes: tuple[int, ...]) -> None:
        """A product of matrices of these shapes, the last two of its operands."""
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
        """Until the device is done."""
        if self.on_gpu:
            self.now = max(self.now, self.done)

    def look(self, clock: str) -> float:
        """The seconds that a clock shows."""
        self.looks += 1
        self.now += self.tick
        if clock == "time":
            return CALENDAR + self.now + self.steps[self.looks % len(self.steps)]
        threads = 2 if len(self.steps) > 1 and clock in ("process_time", "thread_time") else 1
        return threads * self.now

    def sleep(self, seconds: float) -> None:
        """Without waiting."""
        self.now += seconds


class Products(DispatchMode):  # type: ignore[no-untyped-call]
    """Tells the machine of every product, and of every value that the host wants to see."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Compute, then note."""
        result = func(*args, **(kwargs or {}))
        if func.name().partition(".")[0] in PRODUCTS:
            self.machine.multiply(*(tuple(arg.shape) for arg in args if isinstance(arg, Tensor)))
        if func is torch.ops.aten._local_scalar_dense.default:
            self.machine.wait()
        return result


class OnDevice(Tensor):
    """A tensor on the CPU that says it is on a GPU."""

    device = property(lambda _: torch.device("cuda", 0))
    is_cuda = property(lambda _: True)
    is_cpu = property(lambda _: False)

    def get_device(self) -> int:
        """The first."""
        return 0

    def cpu(self, *_: Any, **__: Any) -> Tensor:
        """Waits, as a copy to the host does."""
        if Machine.running:
            Machine.running.wait()
        return self.as_subclass(Tensor)


class Factories(TorchFunctionMode):
    """New tensors for the GPU are such ones, too."""

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Without the device, which is not there."""
        kwargs = dict(kwargs or {})
        asked = kwargs.get("device")
        if asked is None or torch.device(asked).type != "cuda":
            return func(*args, **kwargs)
        del kwargs["device"]
        result = func(*args, **kwargs)
        return result.as_subclass(OnDevice) if isinstance(result, Tensor) else result


class Event:
    """A mark in the device's queue."""

    def __init__(self, *_: object, enable_timing: bool = False, **__: object) -> None:
        self.enable_timing = enable_timing
        self.at: float | None = None

    def record(self, *_: object) -> None:
        """After all that has been queued."""
        machine = present()
        machine.looks += 1
        self.at = max(machine.now, machine.done)

    def query(self) -> bool:
        """Whether the device has come so far."""
        return self.at is None or present().now >= self.at

    def synchronize(self) -> None:
        """Until it has."""
        present().now = max(present().now, self.at or 0.0)

    wait = synchronize

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds. Raises RuntimeError as CUDA does."""
        if not (self.enable_timing and end.enable_timing) or self.at is None or end.at is None:
            raise RuntimeError("both events must have been recorded with enable_timing=True")
        if not (self.query() and end.query()):
            raise RuntimeError("device not ready")
        return 1e3 * (end.at - self.at)


def present() -> Machine:
    """The machine that is being pretended. Raises RuntimeError if there is none."""
    if Machine.running is None:
        raise RuntimeError("no machine is being pretended")
    return Machine.running


@contextmanager
def pretending(machine: Machine) -> Iterator[None]:
    """Let this machine's clocks, and its GPU if it has one, stand in for those that are here."""
    with ExitStack() as stack:

        def put(place: object, name: str, value: object) -> None:
            stack.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, value)

        put(Machine, "running", machine)
        for name in REAL:
            put(time, name, in_its_place(name))
        put(timeit, "default_timer", time.perf_counter)
        for function in (timeit.timeit, timeit.repeat, timeit.Timer.__init__):
            defaults = function.__defaults__ or ()
            put(function, "__defaults__", tuple(exchanged(value) for value in defaults))
        if machine.on_gpu:
            for place, names in gpu(machine).items():
                for name, value in names.items():
                    put(place, name, value)
            stack.enter_context(Factories())
        stack.enter_context(Products(machine))
        yield


def exchanged(value: object) -> object:
    """The pretended clock for the real one, which timeit keeps as a default."""
    return time.perf_counter if value is REAL["perf_counter"] else value


def in_its_place(name: str) -> Callable[..., Any]:
    """A pretended function of `time`; the real one for whoever keeps it until nothing is pretended any more."""

    def call(*args: Any) -> Any:
        machine = Machine.running
        if machine is None:
            return REAL[name](*args)
        if name == "sleep":
            return machine.sleep(*args)
        clock = clock_of(*args) if name.startswith("clock_gettime") else name.removesuffix("_ns")
        seconds = machine.look(clock)
        return round(seconds * 1e9) if name.endswith("_ns") else seconds

    return call


def clock_of(number: int) -> str:
    """The clock that the system knows by this number."""
    if number == time.CLOCK_REALTIME:
        return "time"
    return "process_time" if number in (time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID) else "monotonic"


@contextmanager
def nothing(*_: object, **__: object) -> Iterator[None]:
    """A choice of device or stream, where there is only one."""
    yield


def gpu(machine: Machine) -> dict[Any, dict[str, object]]:
    """What of torch speaks of GPUs, as this machine has it."""
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
            "device": nothing,
            "stream": nothing,
            "init": lambda: None,
            "is_initialized": lambda: True,
            "current_device": lambda: 0,
            "set_device": lambda _: None,
            "empty_cache": lambda: None,
            "get_device_name": lambda *_: "a pretended GPU",
        },
        torch: {"Event": Event},
    }
