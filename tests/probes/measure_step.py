"""Probes for measure_step: predictions, and measurements on a simulated device."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from torchkata import DispatchMode, typed

from .operators import FIRST_FACTOR

COUNTING = ("flop_accounting", "memory_accounting", "promised_flops", "roofline")  # katas that return numbers


@contextmanager
def scaled_functions(assignment: Any, factor: int) -> Iterator[None]:
    """Replace the functions of the student's earlier katas with wrappers that multiply their results by `factor`."""
    if factor == 1:
        yield
        return
    own = [(module, dict(vars(module))) for module in (getattr(assignment, kata) for kata in COUNTING)]
    running: list[str] = []  # nested calls in progress; only the outermost result is scaled

    def stand_in(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def scaled(*args: Any, **kwargs: Any) -> Any:
            running.append("")
            try:
                result = function(*args, **kwargs)
            finally:
                running.pop()
            return result if running else scale(factor, result)

        return scaled

    for module, names in own:
        functions = {name: each for name, each in names.items() if callable(each) and not isinstance(each, type)}
        vars(module).update({name: stand_in(each) for name, each in functions.items()})
    del assignment.measure_step  # the module may have imported the functions
    try:
        yield
    finally:
        for module, names in own:
            vars(module).update(names)
        del assignment.measure_step


def scale(factor: int, result: Any) -> Any:
    """Multiply a number, or each number in a tuple, by `factor`. Anything else is returned unchanged."""
    if isinstance(result, tuple):
        return tuple(scale(factor, each) for each in result)
    return factor * result if isinstance(result, (int, float)) and not isinstance(result, bool) else result


def write_scaled(factor: int, code: str) -> str:
    """Return the code, after a remark if the functions of the earlier katas return multiples of their results."""
    remark = f"# your functions of the earlier katas return {factor} times their results\n"
    return remark * (factor != 1) + code


@typed(lambda dtype, factor=1: write_scaled(factor, f"step_work(B, D, L, torch.{dtype})"))
def list_work(assignment: Any, B: int, D: int, L: int, dtype: str, factor: int = 1) -> list[list[object]]:
    """List each operation's FLOPs and bytes while the student's earlier katas return `factor` times their results."""
    with scaled_functions(assignment, factor):
        return [list(each) for each in assignment.measure_step.step_work(B, D, L, getattr(torch, dtype))]


@typed(
    lambda dtype, factor=1: write_scaled(factor, f"predict_step(B, D, L, torch.{dtype}, flop_per_sec, bytes_per_sec)")
)
def predict(
    assignment: Any,
    B: int,
    D: int,
    L: int,
    dtype: str,
    flop_per_sec: float,
    bytes_per_sec: float,
    factor: int = 1,
) -> object:
    """Call `predict_step` while the student's earlier katas return `factor` times their results."""
    with scaled_functions(assignment, factor):
        return assignment.measure_step.predict_step(B, D, L, getattr(torch, dtype), flop_per_sec, bytes_per_sec)


@typed(
    lambda name: "\n".join(
        [
            "# time_matmul simulates a device of flop_per_sec and bytes_per_sec",
            f"with torch.device({name!r}):",
            "    figures = measure_device(n, rows)",
            "figures, flop_per_sec, bytes_per_sec",
        ]
    )
)
def measure_device(
    assignment: Any, n: int, rows: int, flop_per_sec: float, bytes_per_sec: float, name: str
) -> dict[str, object]:
    """Call `measure_device` inside `torch.device(name)`, with a `time_matmul` that simulates a device of known speed.

    Returns its results, and the shapes and devices of the tensors passed to `time_matmul`.
    """
    timed: list[list[list[int]]] = []
    places: set[str] = set()

    def time_matmul(a: Tensor, b: Tensor) -> float:
        timed.append([list(a.shape), list(b.shape)])
        if a.ndim != 2 or b.ndim != 2:
            raise ValueError(f"time_matmul needs two matrices, not shapes {list(a.shape)} and {list(b.shape)}")
        places.update(each.device.type for each in (a, b))
        (m, k), (_, n) = a.shape, b.shape
        moved = sum(each.numel() * each.itemsize for each in (a, b)) + m * n * a.itemsize
        return max(2 * m * k * n / flop_per_sec, moved / bytes_per_sec)

    module, own = assignment.time_matmul, assignment.time_matmul.time_matmul
    module.time_matmul = time_matmul
    del assignment.measure_step  # the module may have imported the function
    try:
        with torch.device(name):
            figures = assignment.measure_step.measure_device(n, rows)
    finally:
        module.time_matmul = own
        del assignment.measure_step
    return {"figures": list(figures), "timed": timed, "places": sorted(places)}


class Device(DispatchMode):  # type: ignore[no-untyped-call]
    """A simulated device with a FLOP/s rate and a bandwidth.

    The first product outside a backward pass takes three quarters of `first` seconds longer, and the first one in a
    backward pass a quarter of it.
    """

    def __init__(self, flop_per_sec: float, bytes_per_sec: float, first: float) -> None:
        super().__init__()
        self.speeds = flop_per_sec, bytes_per_sec
        self.now = 0.0
        self.first = {False: 0.75 * first, True: 0.25 * first}  # by whether it is in a backward pass
        self.flops_between = [0]  # FLOPs of products before the first reading of the clock, and after each
        self.written: set[int] = set()  # addresses of storages that an in-place operation has written to
        self.parameters: list[Tensor] = []  # those of the network, after its first call
        self.gradients_add_up = False

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run the operation, then advance the clock."""
        if func.overloadpacket.__name__ == "add_" and self.is_gradient(args[0]) and bool(args[0].any()):
            self.gradients_add_up = True  # as backward() does if p.grad contains an earlier step's gradient
        result = func(*args, **(kwargs or {}))
        flops = 0
        if func.overloadpacket in FIRST_FACTOR:
            flops = 2 * result.numel() * args[FIRST_FACTOR[func.overloadpacket]].shape[-1]
            self.now += self.first.pop(self.is_in_backward(), 0.0)
        if not func.is_view:
            written = args[0] if result is None else result  # in-place operations on lists of tensors return None
            tensors = self.tensors_in([args, written])
            moved = sum(each.numel() * each.itemsize for each in tensors)
            self.now += max(flops / self.speeds[0], moved / self.speeds[1])
        self.flops_between[-1] += flops
        changed = [args[:1] if func.overloadpacket.__name__.endswith("_") else (), (kwargs or {}).get("out")]
        self.written.update(each.untyped_storage().data_ptr() for each in self.tensors_in(changed))
        return result

    def is_gradient(self, x: Tensor) -> bool:
        """Return whether a tensor is the gradient of a parameter."""
        addresses = [p.grad.untyped_storage().data_ptr() for p in self.parameters if p.grad is not None]
        return x.untyped_storage().data_ptr() in addresses

    def clock(self) -> float:
        """Return the device's time in seconds."""
        self.flops_between.append(0)
        return self.now


@typed(
    lambda factor=1: write_scaled(
        factor,
        "\n".join(
            [
                "from tests.probes.measure_step import Device",
                "with Device(flop_per_sec, bytes_per_sec, first) as device:",
                "    took = measure_step(B, D, L, promised, device.clock)",
                "took",
            ]
        ),
    )
)
def measure(
    assignment: Any,
    B: int,
    D: int,
    L: int,
    promised: float,
    flop_per_sec: float,
    bytes_per_sec: float,
    first: float,
    factor: int = 1,
) -> dict[str, object]:
    """Measure a step on a simulated device, and count the FLOPs of products between readings of the clock.

    The student's other functions multiply results by `factor`.
    """
    with ExitStack() as stack:
        stack.enter_context(scaled_functions(assignment, factor))
        assignment.measure_step  # noqa: B018  (imported before the simulation)
        with Device(flop_per_sec, bytes_per_sec, first) as device:
            seen = stack.enter_context(observed_parameters(assignment.deep_network.DeepNetwork, device))
            took = assignment.measure_step.measure_step(B, D, L, promised, device.clock)
    return {
        "took": took,
        "flops": device.flops_between,
        "parameters stay": stay_the_same(seen, device.written),
        "gradients add up": device.gradients_add_up,
    }


@contextmanager
def observed_parameters(network: Any, device: Device) -> Iterator[list[list[Tensor]]]:
    """Record the parameters of a network in each call, and a copy of each, without advancing the device's clock."""
    seen: list[list[Tensor]] = []
    own = network.forward

    @wraps(own)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = device.now
        device.parameters = [*self.parameters()]
        if not seen:
            device.written.clear()  # what the initialization has written to
        seen.append([each for p in self.parameters() for each in (p.detach(), p.detach().clone())])
        device.now = now
        return own(self, *args, **kwargs)

    with patch.object(network, "forward", forward):
        yield seen


def stay_the_same(seen: Sequence[Sequence[Tensor]], written: set[int]) -> bool:
    """Return whether several calls had the same parameters, which were not even overwritten with the same values."""
    first, last = seen[:1] or [[]], seen[-1:] or [[]]
    pairs = [*zip(first[0], last[0], strict=False)]
    addresses = [{p.untyped_storage().data_ptr() for p in call[::2]} for call in seen]
    is_same = all(each == addresses[0] for each in addresses) and all(bool((a == b).all()) for a, b in pairs)
    return len(seen) > 1 and is_same and not addresses[0] & written


@typed("measure_step(B, D, L, promised)")
def measure_here(assignment: Any, B: int, D: int, L: int, promised: float) -> object:
    """Measure a step on this machine."""
    took = assignment.measure_step.measure_step(B, D, L, promised)
    return {**took, "is a time": isinstance(took["seconds"], float) and 0 < took["seconds"] < math.inf}
