"""Time a matrix multiplication."""

import time
from statistics import median

import torch
from jaxtyping import Float
from torch import Tensor

WARM_UP, REPEATS = 3, 10


def time_matmul(a: Float[Tensor, "m k"], b: Float[Tensor, "k n"]) -> float:
    """Return the median time of several matmuls, synchronizing around each."""

    def wait() -> None:
        if a.is_cuda:
            torch.cuda.synchronize(a.device)

    for _ in range(WARM_UP):
        a @ b
    seconds = []
    for _ in range(REPEATS):
        wait()
        start = time.perf_counter()
        a @ b
        wait()
        seconds.append(time.perf_counter() - start)
    return median(seconds)
