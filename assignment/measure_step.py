"""The capstone: predict what a training step takes, from shapes and two figures of a device. Then measure it.

A step of a `DeepNetwork(D, L)`, L ≥ 1, on a batch x of B rows: `y = model(x)`; the backward pass from a gradient of
ones for y, `y.backward(ones)`, where x needs none; and plain SGD, `p -= lr * p.grad`.

Build on your own functions: call them for the products' FLOPs and bytes, for the memory and for the MFU. The tests
replace the functions of your roofline, flop_accounting, memory_accounting and promised_flops by stand-ins that return
other figures, and your figures must change with them.
"""

import time
from collections.abc import Callable

import torch

from .deep_network import DeepNetwork  # all of these are your own
from .flop_accounting import deep_linear_flops
from .memory_accounting import training_bytes
from .promised_flops import mfu
from .roofline import matrix_matrix_work, matrix_vector_work, relu_work
from .time_matmul import time_matmul


def step_work(B: int, D: int, L: int, dtype: torch.dtype) -> list[tuple[int, int]]:
    """(FLOPs, bytes) of every operation of a step, in any order: 2 · L forward, 3 · L - 1 backward, L of SGD.

    As in roofline, each reads its inputs once and writes its result once. A ReLU's backward pass reads its output and
    the gradient of that, and writes a gradient: 1 FLOP an element. SGD reads p and its gradient, and writes p: 2.

    Example:
        len(step_work(8, 4, 3, torch.float32))     # 17 = 6 + 8 + 3
        max(step_work(8, 4, 3, torch.float32))     # (256, 320): a product
    """
    raise NotImplementedError


def predict_step(
    B: int, D: int, L: int, dtype: torch.dtype, flop_per_sec: float, bytes_per_sec: float
) -> dict[str, float]:
    """What a step will take: `{"flops": …, "bytes": …, "memory": …, "seconds": …}`, the first three exact ints.

    - "flops": those of the products alone, as MFU has them; "bytes": those moved by all operations.
    - "memory": parameters, gradients, and the activations that autograd keeps, each tensor once, however many
      operations keep it: a product keeps its inputs, a ReLU its output. SGD has no state.
    - "seconds": the least time of a step whose operations run one after the other, each reading from memory and
      writing to it, on a device with these two speeds. So each operation has a roofline of its own: the longer of its
      arithmetic and of moving its bytes. A step can be faster if operations are fused or tensors stay in a cache.

    Example:
        predict_step(8, 4, 2, torch.float32, 1e9, 1e9)["flops"]     # 1280
        predict_step(8, 4, 2, torch.float32, 1e9, 1e9)["memory"]    # 640
    """
    raise NotImplementedError


def measure_device(n: int, rows: int) -> tuple[float, float]:
    """(FLOP/s, bytes/s) reached by this device, measured with your `time_matmul`; use it when there is no datasheet.

    The FLOP/s are those of a product of two matrices (n, n), which is compute-bound, the bytes/s those of a matrix
    (rows, n) by a vector, (n, 1), which is memory-bound; all in float32. Which device that is, the caller says:
    `with torch.device("cuda"):` makes whatever is made without `device=` there.
    """
    raise NotImplementedError


def measure_step(
    B: int, D: int, L: int, promised: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """What a step of your DeepNetwork takes, in float32: its "seconds", and its "mfu" of the `promised` FLOP/s.

    `clock()` waits until the device is idle, then returns the time in seconds. Warm up with a step at least,
    then time at least three, and return the seconds of one.
    Left to you: their mean, their median or the fastest; what is in x; whose SGD it is.

    Example:
        took = measure_step(B=64, D=64, L=2, promised=1e12)
        took["seconds"] > predict_step(64, 64, 2, torch.float32, 1e15, 1e15)["seconds"]     # True: no device is so fast
    """
    raise NotImplementedError
