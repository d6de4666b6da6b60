"""Predict and measure a training step."""

import time
from collections.abc import Callable
from statistics import median

import torch

from .deep_network import DeepNetwork
from .flop_accounting import deep_linear_flops
from .memory_accounting import training_bytes
from .promised_flops import mfu
from .roofline import matrix_matrix_work, matrix_vector_work, relu_work
from .time_matmul import time_matmul

WARM_UP, REPEATS, LR = 2, 5, 0.01


def step_work(B: int, D: int, L: int, dtype: torch.dtype) -> list[tuple[int, int]]:
    """List the FLOPs and bytes of each operation. The first block does not compute an input gradient."""
    forward = [matrix_matrix_work(B, D, D, dtype), relu_work(B * D, dtype)]
    relu_backward = (B * D, 3 * B * D * dtype.itemsize)
    grad_weight, grad_input = matrix_matrix_work(D, B, D, dtype), matrix_matrix_work(B, D, D, dtype)
    update = (2 * D * D, 3 * D * D * dtype.itemsize)
    return L * [*forward, relu_backward, grad_weight, update] + (L - 1) * [grad_input]


def predict_step(
    B: int, D: int, L: int, dtype: torch.dtype, flop_per_sec: float, bytes_per_sec: float
) -> dict[str, float]:
    """Add up the bytes and the minimum seconds of all operations, and compute the FLOPs and the memory."""
    work = step_work(B, D, L, dtype)
    size = dtype.itemsize
    return {
        "flops": deep_linear_flops(B, D, L),
        "bytes": sum(moved for _, moved in work),
        "memory": training_bytes(
            L * D * D,
            (L + 1) * B * D,
            parameter_bytes=size,
            gradient_bytes=size,
            optimizer_bytes=0,
            activation_bytes=size,
        ),
        "seconds": sum(max(flops / flop_per_sec, moved / bytes_per_sec) for flops, moved in work),
    }


def measure_device(n: int, rows: int) -> tuple[float, float]:
    """Divide the FLOPs of one product and the bytes of another by the time that each product takes."""
    flops, _ = matrix_matrix_work(n, n, n, torch.float32)
    _, moved = matrix_vector_work(rows, n, torch.float32)
    square, tall, vector = torch.ones(n, n), torch.ones(rows, n), torch.ones(n, 1)
    return flops / time_matmul(square, square), moved / time_matmul(tall, vector)


def measure_step(
    B: int, D: int, L: int, promised: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the measured values of a step, using the median time of several steps."""
    model, x, ones = DeepNetwork(D, L), torch.randn(B, D), torch.ones(B, D)

    def step() -> None:
        model.zero_grad()
        model(x).backward(ones)
        with torch.no_grad():
            for p in model.parameters():
                p.sub_(p.grad, alpha=LR)

    for _ in range(WARM_UP):
        step()
    times = []
    for _ in range(REPEATS):
        start = clock()
        step()
        times.append(clock() - start)
    seconds = median(times)
    return {"seconds": seconds, "mfu": mfu(deep_linear_flops(B, D, L), seconds, promised)}
