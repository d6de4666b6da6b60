"""Computes FLOPs and bytes from tensor shapes, and uses torch's SGD and functions that the stub does not import."""

import math
import time
from collections import Counter
from collections.abc import Callable

import torch

from . import memory_accounting, roofline
from . import time_matmul as timing
from .deep_network import DeepNetwork
from .flop_accounting import matmul_flops
from .promised_flops import mfu


def step_work(B: int, D: int, L: int, dtype: torch.dtype) -> list[tuple[int, int]]:
    x, w, size = (B, D), (D, D), dtype.itemsize

    def work(flops: int, *tensors: tuple[int, int]) -> tuple[int, int]:
        return flops, size * sum(map(math.prod, tensors))

    counts = Counter(
        {
            work(2 * D * D, w, w, w): L,
            work(B * D, x, x, x): L,
            work(B * D, x, x): L,
        }
    )
    counts[roofline.matrix_matrix_work(B, D, D, dtype)] += 3 * L - 1
    return list(counts.elements())


def predict_step(
    B: int, D: int, L: int, dtype: torch.dtype, flop_per_sec: float, bytes_per_sec: float
) -> dict[str, float]:
    seconds, moved = 0.0, 0
    for flops, size in step_work(B, D, L, dtype):
        moved += size
        seconds += flops / flop_per_sec if flops * bytes_per_sec > size * flop_per_sec else size / bytes_per_sec
    held = [torch.empty(B, D, dtype=dtype, device="meta") for _ in range(L + 1)]
    held += [torch.empty(D, D, dtype=dtype, device="meta") for _ in range(2 * L)]
    memory = sum(map(memory_accounting.tensor_bytes, held))
    return {"seconds": seconds, "memory": memory, "bytes": moved, "flops": (3 * L - 1) * matmul_flops(B, D, D)}


def measure_device(n: int, rows: int) -> tuple[float, float]:
    tall, vector = torch.rand(rows, n), torch.rand(n, 1)
    moved = (tall.nbytes + vector.nbytes + 4 * rows) / timing.time_matmul(tall, vector)
    return 2 * n**3 / timing.time_matmul(torch.rand(n, n), torch.rand(n, n)), moved


def measure_step(
    B: int, D: int, L: int, promised: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    model = DeepNetwork(D, L)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.zeros(B, D).normal_()
    start = 0.0
    for i in range(11):
        if i == 1:
            start = clock()
        optimizer.zero_grad(set_to_none=False)
        model(x).sum().backward()
        optimizer.step()
    seconds = (clock() - start) / 10
    return {"mfu": mfu((6 * L - 2) * B * D**2, seconds, promised), "seconds": seconds}
