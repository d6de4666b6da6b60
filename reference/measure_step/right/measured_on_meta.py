"""Predicts the cost of a step by running it on meta tensors and recording each operation."""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .deep_network import DeepNetwork
from .flop_accounting import deep_linear_flops
from .memory_accounting import training_bytes
from .promised_flops import mfu
from .roofline import matrix_matrix_work
from .time_matmul import time_matmul


class Watch(TorchDispatchMode):
    """A mode that records each operation that is not a view."""

    def __init__(self) -> None:
        super().__init__()
        self.work: list[tuple[int, int]] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket is torch.ops.aten.mm:
            self.work.append(matrix_matrix_work(*args[0].shape, args[1].shape[1], result.dtype))
        elif not func.is_view:
            tensors = [each for each in (*args, result) if isinstance(each, torch.Tensor)]
            each = 2 if func.overloadpacket is torch.ops.aten.sub_ else 1
            self.work.append((each * result.numel(), sum(tensor.nbytes for tensor in tensors)))
        return result


def step_work(B: int, D: int, L: int, dtype: torch.dtype) -> list[tuple[int, int]]:
    with torch.device("meta"):
        weights = [torch.empty(D, D, requires_grad=True) for _ in range(L)]
        x, ones = torch.empty(B, D), torch.empty(B, D)
    with Watch() as watch:
        y = x
        for weight in weights:
            y = (y @ weight).relu()
        y.backward(ones)
        with torch.no_grad():
            for weight in weights:
                weight.sub_(weight.grad, alpha=0.1)
    return [(flops, moved * dtype.itemsize // 4) for flops, moved in watch.work]


def predict_step(
    B: int, D: int, L: int, dtype: torch.dtype, flop_per_sec: float, bytes_per_sec: float
) -> dict[str, float]:
    work = step_work(B, D, L, dtype)
    return {
        "flops": deep_linear_flops(B, D, L),
        "bytes": sum(moved for _, moved in work),
        "memory": training_bytes(0, 2 * L * D * D + (L + 1) * B * D, activation_bytes=dtype.itemsize),
        "seconds": float(sum(max(f / flop_per_sec, b / bytes_per_sec) for f, b in work)),
    }


def measure_device(n: int, rows: int) -> tuple[float, float]:
    return (
        2 * n**3 / time_matmul(torch.ones((n, n)), torch.ones((n, n))),
        4 * (rows * n + n + rows) / time_matmul(torch.zeros((rows, n)), torch.zeros((n, 1))),
    )


def measure_step(
    B: int, D: int, L: int, promised: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    model, x = DeepNetwork(D, L), torch.randn(B, D)
    fastest = float("inf")
    for i in range(4):
        start = clock() if i else 0.0
        y = model(x)
        grads = torch.autograd.grad(y, list(model.parameters()), torch.ones_like(y))
        with torch.no_grad():
            for p, grad in zip(model.parameters(), grads, strict=True):
                p -= 0.1 * grad
        if i:
            fastest = min(fastest, clock() - start)
    return {"seconds": fastest, "mfu": mfu((3 * L - 1) * 2 * B * D * D, fastest, promised)}
