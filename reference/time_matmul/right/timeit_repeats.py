"""Takes the minimum of several timeit repetitions, with the warm-up as the setup statement."""

from timeit import Timer

import torch
from torch import Tensor


def time_matmul(a: Tensor, b: Tensor) -> float:
    def wait() -> None:
        if a.device.type == "cuda":
            torch.cuda.synchronize()

    def warm_up() -> None:
        a @ b
        wait()

    def run() -> None:
        a.matmul(b)
        wait()

    return min(Timer(run, warm_up).repeat(repeat=4, number=3)) / 3
