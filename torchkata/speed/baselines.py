"""What a student's speed is held against: the same work in plain torch; under the grader, in a worker of its own.

The functions mirror those of `tests/probes/speed.py`.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from .layout import Memory
from .sizes import Size

WIDTH_OF_PRODUCT = 8192  # 1.1 TFLOP: about 1.5 ms on an H100


def begin(workload: str, size: Size, memory: Memory, device: str) -> Callable[[], object]:
    """What does one block of this workload."""
    make: dict[str, Callable[[Size, Memory, str], Callable[[], object]]] = {
        "linear_forward": products,
        "cruncher_step": steps,
        "train_throughput": training,
        "no_hidden_sync": training,
        "peak_memory": training,
        "sgd_step": triads,
        "adagrad_step": triads,
        "get_batch_throughput": gathers,
    }
    return make[workload](size, memory, device)


def products(size: Size, memory: Memory, device: str) -> Callable[[], object]:  # noqa: ARG001
    """`torch.mm` into the result's own memory."""
    weight = memory["weight"].clone()

    def run() -> None:
        for x, y in zip(memory["x"], memory["y"], strict=True):
            torch.mm(x, weight, out=y)

    return run


def steps(size: Size, memory: Memory, device: str) -> Callable[[], object]:  # noqa: ARG001
    """Forward, backward and update by hand, for each call from the same weights."""

    def run() -> None:
        for x, target, layers, final in zip(
            memory["x"], memory["target"], memory["new_layers"], memory["new_final"], strict=True
        ):
            layers.copy_(memory["layers"])
            final.copy_(memory["final"])
            step(x, target, layers, final, size.rate)

    return run


def training(size: Size, memory: Memory, device: str) -> Callable[[], object]:  # noqa: ARG001
    """One step after the other, from a random start."""
    for weight in (memory["layers"], memory["final"]):
        weight.normal_(std=size.width**-0.5)

    def run() -> None:
        layers, final = memory["layers"].clone(), memory["final"].clone()
        for x, target in zip(memory["x"], memory["target"], strict=True):
            step(x, target, layers, final, size.rate)
        memory["new_layers"].copy_(layers)
        memory["new_final"].copy_(final)

    return run


def step(x: Tensor, target: Tensor, layers: Tensor, final: Tensor, rate: float) -> None:
    """Descend the mean squared error once, in place: `(6 L − 2) B D²` FLOP and little else.

    x: [B, D]   target: [B]   layers: [L, D, D]   final: [D, 1]
    """
    inputs = [x]
    for weight in layers:
        inputs.append(torch.mm(inputs[-1], weight))
    error = torch.mm(inputs[-1], final).squeeze(-1).sub_(target).mul_(2 / len(x))
    grad = torch.outer(error, final.squeeze(-1))
    final.addmm_(inputs.pop().T, error.unsqueeze(-1), alpha=-rate)
    for i in reversed(range(len(layers))):
        update = torch.mm(inputs.pop().T, grad)
        if i:
            grad = torch.mm(grad, layers[i].T)
        layers[i].add_(update, alpha=-rate)


def triads(size: Size, memory: Memory, device: str) -> Callable[[], object]:  # noqa: ARG001
    """`a = b + s · c`: three passes over memory, 12 bytes for each element of float32."""

    def run() -> None:
        for p, grad in zip(memory["p"], memory["grad"], strict=True):
            torch.add(p, grad, alpha=-size.rate, out=p)

    return run


def gathers(size: Size, memory: Memory, device: str) -> Callable[[], object]:
    """All windows of a batch at once."""
    data = memory["data"].numpy()
    windows = np.lib.stride_tricks.sliding_window_view(data, size.sequence)
    compute = product(device)

    def run() -> None:
        for batch in memory["batch"]:
            starts = torch.randint(len(windows) - 1, (size.batch,)).numpy()
            tokens = torch.from_numpy(windows[starts].astype(np.int64))
            batch.copy_(tokens.pin_memory().to(device, non_blocking=True) if device == "cuda" else tokens)
            compute()

    return run


def product(device: str) -> Callable[[], object]:
    """On a GPU a product, queued, that copies can hide behind; on a CPU nothing."""
    if device == "cpu":
        return lambda: None
    factor = torch.ones(WIDTH_OF_PRODUCT, WIDTH_OF_PRODUCT, dtype=torch.bfloat16, device=device)
    result = torch.empty_like(factor)
    return lambda: torch.mm(factor, factor, out=result)
