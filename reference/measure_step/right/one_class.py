"""Uses a class for a step, generators, and torch's foreach functions for the update."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch

from .deep_network import DeepNetwork
from .flop_accounting import deep_linear_flops
from .memory_accounting import training_bytes
from .promised_flops import mfu
from .roofline import matrix_matrix_work, matrix_vector_work, relu_work
from .time_matmul import time_matmul


@dataclass(frozen=True)
class Step:
    """The sizes of a step and quantities computed from them."""

    B: int
    D: int
    L: int
    dtype: torch.dtype

    def operations(self) -> Iterator[tuple[int, int]]:
        size = self.dtype.itemsize
        for layer in range(self.L):
            yield matrix_matrix_work(self.B, self.D, self.D, self.dtype)
            flops, moved = relu_work(self.B * self.D, self.dtype)
            yield flops, moved
            yield flops, moved + self.B * self.D * size
            yield matrix_matrix_work(self.D, self.B, self.D, self.dtype)
            if layer:
                yield matrix_matrix_work(self.B, self.D, self.D, self.dtype)
            yield 2 * self.D**2, 3 * self.D**2 * size

    @cached_property
    def memory(self) -> int:
        size = self.dtype.itemsize
        return training_bytes(
            self.L * self.D**2,
            self.B * self.D + self.L * self.B * self.D,
            parameter_bytes=2 * size,
            gradient_bytes=0,
            optimizer_bytes=0,
            activation_bytes=size,
        )


def step_work(B: int, D: int, L: int, dtype: torch.dtype) -> list[tuple[int, int]]:
    return [*Step(B, D, L, dtype).operations()]


def predict_step(
    B: int, D: int, L: int, dtype: torch.dtype, flop_per_sec: float, bytes_per_sec: float
) -> dict[str, float]:
    step = Step(B, D, L, dtype)
    a_flop, a_byte = 1 / flop_per_sec, 1 / bytes_per_sec
    took = sum(max(flops * a_flop, moved * a_byte) for flops, moved in step.operations())
    moved = sum(moved for _, moved in step.operations())
    return {"flops": deep_linear_flops(B, D, L), "bytes": moved, "memory": step.memory, "seconds": took}


def measure_device(n: int, rows: int) -> tuple[float, float]:
    flops = matrix_matrix_work(n, n, n, torch.float32)[0] / time_matmul(torch.eye(n), torch.randn(n, n))
    return flops, matrix_vector_work(rows, n, torch.float32)[1] / time_matmul(torch.randn(rows, n), torch.randn(n, 1))


def measure_step(
    B: int, D: int, L: int, promised: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    model = DeepNetwork(D, L).float()
    x, gradient = torch.randn(B, D), torch.ones(B, D)
    parameters = list(model.parameters())
    times = []
    for _ in range(8):
        before = clock()
        for p in parameters:
            p.grad = None
        torch.autograd.backward(model(x), gradient)
        torch._foreach_add_([p.data for p in parameters], [p.grad for p in parameters], alpha=-0.01)
        times.append(clock() - before)
    seconds = sorted(times[1:])[3]
    return {"seconds": seconds, "mfu": mfu(deep_linear_flops(B, D, L), seconds, promised)}
