"""Capstone: predict the cost of a training step from its shapes, peak FLOP/s and memory bandwidth, then measure it.

A step of a `DeepNetwork(D, L)`, L ≥ 1, on a batch x of B rows computes `y = model(x)`, calls `y.backward(ones)`, and
applies plain SGD, `p -= lr * p.grad`. x does not require grad.

Details: compute FLOPs, bytes, memory and MFU with your own functions, imported below. The tests replace them with
functions that return different values, and your results must change accordingly.
"""

import time
from collections.abc import Callable

import torch

from .deep_network import DeepNetwork  # these are your own functions
from .flop_accounting import deep_linear_flops
from .memory_accounting import training_bytes
from .promised_flops import mfu
from .roofline import matrix_matrix_work, matrix_vector_work, relu_work
from .time_matmul import time_matmul


def step_work(B: int, D: int, L: int, dtype: torch.dtype) -> list[tuple[int, int]]:
    """Return a list of pairs of ints, (FLOPs, bytes), one for each operation of a step, computed exactly.

    The forward pass has 2 · L operations, the backward pass has 3 · L - 1, and SGD has L.

    Each operation reads its inputs once and writes its result once. The backward pass of a ReLU reads the output of the
    ReLU and its gradient, writes the gradient of the input, and takes 1 FLOP per element. SGD reads p and its gradient,
    writes p, and takes 2 FLOPs per element.

    Example:
        len(step_work(8, 4, 3, torch.float32))     # 17 = 6 + 8 + 3
        max(step_work(8, 4, 3, torch.float32))     # (256, 320): a matmul

    Not specified (any choice is fine): the order of the operations.
    """
    raise NotImplementedError


def predict_step(
    B: int, D: int, L: int, dtype: torch.dtype, flop_per_sec: float, bytes_per_sec: float
) -> dict[str, float]:
    """Return `{"flops": …, "bytes": …, "memory": …, "seconds": …}` for a step.

    Compute the first three exactly, as ints.
    - "flops": FLOPs of the matrix multiplications only; "bytes": the bytes moved by all operations.
    - "memory": bytes of parameters, gradients and saved activations. Count each tensor once. A matmul saves its two
      inputs: the weight, and either x or the output of the previous ReLU. A ReLU saves its output. SGD has no state.
    - "seconds": the sum of the times of all operations, which run one after the other. Each takes the time for its
      arithmetic or for moving its bytes, whichever is longer. (A real step can be faster if operations are fused or
      tensors stay in a cache.)

    Example:
        predict_step(8, 4, 2, torch.float32, 1e9, 1e9)["flops"]     # 1280
        predict_step(8, 4, 2, torch.float32, 1e9, 1e9)["memory"]    # 640
    """
    raise NotImplementedError


def measure_device(n: int, rows: int) -> tuple[float, float]:
    """Benchmark the default device with your `time_matmul`, in float32, and return the pair (FLOP/s, bytes/s).

    Compute the FLOP/s by timing the product of two (n, n) matrices, and the bytes/s by timing the product of a
    (rows, n) matrix and an (n, 1) vector. Create tensors without `device=`, because the caller selects the device using
    `with torch.device("cuda"):`.
    """
    raise NotImplementedError


def measure_step(
    B: int, D: int, L: int, promised: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return `{"seconds": …, "mfu": …}` for a float32 step of your DeepNetwork, the MFU relative to `promised` FLOP/s.

    `clock()` waits until the device is idle, then returns the time in seconds. Warm up with at least one step, then
    time at least three further steps.

    Example:
        measured = measure_step(B=64, D=64, L=2, promised=1e12)
        predicted = predict_step(64, 64, 2, torch.float32, 1e15, 1e15)
        measured["seconds"] > predicted["seconds"]     # True: the real step is slower than predicted

    Not specified (any choice is fine): whether you return the mean, the median or the minimum; the values of x; the
    implementation of SGD.
    """
    raise NotImplementedError
