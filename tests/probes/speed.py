"""Runs a workload beside a student's code: `begin` makes what is needed, and what it returns does one block of work.

Inputs and results lie in `memory` (`torchkata/speed/layout.py`): under the grader that is memory of the grader's.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from torchkata.speed.baselines import product
from torchkata.speed.layout import Memory
from torchkata.speed.sizes import Size
from torchkata.torch_internals import TorchDispatchMode, keep_the_gpu_busy

SEED = 0
BUSY_CYCLES = 100_000_000  # of the GPU's clock: 50 ms or more
HOST_READS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero")  # what waits for a device


def begin(assignment: Any, workload: str, size: Size, memory: Memory, device: str) -> Callable[[], object]:
    """What does one block of this workload."""
    make: Callable[..., Callable[[], object]] = {
        "linear_forward": linear_forward,
        "cruncher_step": cruncher_step,
        "train_throughput": train,
        "no_hidden_sync": train_without_waiting,
        "peak_memory": train,
        "sgd_step": sgd_step,
        "adagrad_step": adagrad_step,
        "get_batch_throughput": batches,
    }[workload]
    return make(assignment, size, memory, device)


def linear_forward(assignment: Any, size: Size, memory: Memory, device: str) -> Callable[[], object]:
    """One product for each call."""
    layer = assignment.linear.Linear(size.width, size.outputs).to(device, memory["weight"].dtype)
    with torch.no_grad():
        layer.weight.copy_(memory["weight"])

    def run() -> None:
        with torch.no_grad():
            for x, y in zip(memory["x"], memory["y"], strict=True):
                y.copy_(layer(x))

    return run


def cruncher_step(assignment: Any, size: Size, memory: Memory, device: str) -> Callable[[], object]:
    """Forward, backward and one step of SGD for each call, each from the same weights."""
    model = assignment.cruncher.Cruncher(size.width, size.layers).to(device, memory["x"].dtype)
    optimizer = assignment.sgd.SGD(model.parameters(), lr=size.rate)

    def run() -> None:
        for x, target, layers, final in zip(
            memory["x"], memory["target"], memory["new_layers"], memory["new_final"], strict=True
        ):
            load(model, memory["layers"], memory["final"])
            model.zero_grad(set_to_none=True)
            (model(x) - target).square().mean().backward()
            optimizer.step()
            save(model, layers, final)

    return run


def load(model: Any, layers: Tensor, final: Tensor) -> None:
    """Put weights into a model."""
    with torch.no_grad():
        for layer, weight in zip(model.layers, layers, strict=True):
            layer.weight.copy_(weight)
        model.final.weight.copy_(final)


def save(model: Any, layers: Tensor, final: Tensor) -> None:
    """Take the weights out of a model."""
    with torch.no_grad():
        for layer, weight in zip(model.layers, layers, strict=True):
            weight.copy_(layer.weight)
        final.copy_(model.final.weight)


class Batches:
    """The `get_batch` that `train` is given: it hands out the batches in memory, and says how many so far."""

    def __init__(self, memory: Memory, first: Callable[[], object] = lambda: None) -> None:
        self.memory = memory
        self.first = first  # done when the first one is asked for
        self.asked = 0
        memory["asked"].zero_()

    def __call__(self, *, B: int) -> tuple[Tensor, Tensor]:  # noqa: ARG002  (what `train` must name)
        """The next batch."""
        if self.asked == 0:
            self.first()
        self.asked += 1
        self.memory["asked"].fill_(self.asked)
        return self.memory["x"][self.asked - 1], self.memory["target"][self.asked - 1]


def train(
    assignment: Any, size: Size, memory: Memory, device: str, first: Callable[[], object] = lambda: None
) -> Callable[[], object]:
    """All steps of a training run, from a start that `begin` notes; `first` is done when they begin."""
    steps = len(memory["x"])

    def trained(get_batch: Callable[..., tuple[Tensor, Tensor]], steps: int) -> Any:
        torch.manual_seed(SEED)
        # drawn on the host, a large model's start would take a GPU longer than the steps
        with nullcontext() if device == "cpu" else torch.device(device):
            shape = size.width, size.layers, size.batch
            return assignment.train.train(get_batch, *shape, steps, size.rate, device)[0]

    def run() -> None:
        save(trained(Batches(memory, first), steps), memory["new_layers"], memory["new_final"])

    save(trained(Batches(memory), 0), memory["layers"], memory["final"])
    return run


class HostReads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what would make the host wait for a device."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """One operation."""
        self.count += func.overloadpacket.__name__ in HOST_READS
        return func(*args, **(kwargs or {}))

    def counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method of Tensor that takes its numbers to the host without an operation of its own."""

        def counting(*args: Any, **options: Any) -> Any:
            self.count += 1
            return method(*args, **options)

        return counting


def train_without_waiting(assignment: Any, size: Size, memory: Memory, device: str) -> Callable[[], object]:
    """A training run behind a device that is busy; on a CPU, which never is, the number of reads that would wait.

    It is busy from the first batch on: moving a new model there has to wait, and may.
    """
    if device == "cuda":
        return train(assignment, size, memory, device, keep_busy)
    work = train(assignment, size, memory, device)

    def counting() -> int:
        reads = HostReads()
        with ExitStack() as stack:
            for name in ("tolist", "numpy", "cpu", "__array__"):
                stack.enter_context(patch.object(Tensor, name, reads.counted(getattr(Tensor, name))))
            stack.enter_context(reads)
            work()
        return reads.count

    return counting


def keep_busy() -> None:
    """Queue what takes a GPU some time."""
    keep_the_gpu_busy(BUSY_CYCLES)


def sgd_step(assignment: Any, size: Size, memory: Memory, device: str) -> Callable[[], object]:  # noqa: ARG001
    """One step for each call, each with an optimizer and parameters of its own."""
    optimizers = [assignment.sgd.SGD([parameter], lr=size.rate) for parameter in parameters(memory)]
    return lambda: each_steps(optimizers)


def adagrad_step(assignment: Any, size: Size, memory: Memory, device: str) -> Callable[[], object]:  # noqa: ARG001
    """The same, after a first step with the gradients that lie there now: the state is made, and no longer zero."""
    optimizers = [assignment.adagrad.AdaGrad([parameter], lr=size.rate) for parameter in parameters(memory)]
    each_steps(optimizers)
    return lambda: each_steps(optimizers)


def parameters(memory: Memory) -> list[nn.Parameter]:
    """Parameters and gradients that lie in memory themselves."""
    made = [nn.Parameter(p) for p in memory["p"]]
    for parameter, grad in zip(made, memory["grad"], strict=True):
        parameter.grad = grad
    return made


def each_steps(optimizers: Sequence[torch.optim.Optimizer]) -> None:
    """One step of each."""
    for optimizer in optimizers:
        optimizer.step()


def batches(assignment: Any, size: Size, memory: Memory, device: str) -> Callable[[], object]:
    """One batch for each call; on a GPU with a product after each, that copies can hide behind."""
    data = memory["data"].numpy()
    compute = product(device)

    def run() -> None:
        for batch in memory["batch"]:
            batch.copy_(assignment.get_batch.get_batch(data, size.batch, size.sequence, device))
            compute()

    return run
