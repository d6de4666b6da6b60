"""Predict the cost of a training step, then measure it.

A step of a `DeepNetwork(D, L)`, L ≥ 1, on a batch x of B rows:

    y = model(x)            # x does not require grad
    y.backward(ones)
    p -= lr * p.grad        # for each parameter; plain SGD has no state
    p.grad = None           # for each parameter; takes no FLOPs and moves no bytes

Compute FLOPs, bytes, memory and MFU with your own functions, imported below: the tests replace them, and your results
must change accordingly.
"""

import time
from collections.abc import Callable

import torch

from .deep_network import DeepNetwork
from .flop_accounting import deep_linear_flops
from .memory_accounting import training_bytes
from .promised_flops import mfu
from .roofline import matrix_matrix_work, matrix_vector_work, relu_work
from .time_matmul import time_matmul


def step_work(B: int, D: int, L: int, dtype: torch.dtype) -> list[tuple[int, int]]:
    """Return a list of pairs of exact ints, (FLOPs, bytes), one for each operation of a step, in any order.

    Each operation reads its inputs once and writes its result once. Two are not in `roofline`:

                             reads                     writes               FLOPs
        ReLU (backward)      output, its gradient      input's gradient     1 per element
        SGD                  p, its gradient           p                    2 per element

    Example:
        work = step_work(8, 4, 3, torch.float32)
        len(work)     # 17 = 2 * 3 + (3 * 3 - 1) + 3: 2 · L forward, 3 · L - 1 backward, L in SGD
        max(work)     # (256, 320): a matmul
    """
    raise NotImplementedError


def predict_step(
    B: int, D: int, L: int, dtype: torch.dtype, flop_per_sec: float, bytes_per_sec: float
) -> dict[str, float]:
    """Return a dict of predictions for a step, the first three as exact ints.

    - "flops": FLOPs of the matmuls only.
    - "bytes": bytes moved by all operations.
    - "memory": bytes of parameters, gradients and saved activations, each tensor once. A matmul saves both inputs, also
      x; a ReLU its output.
    - "seconds": the sum of the operations' times. Each takes as long as its arithmetic or moving its bytes, whichever
      is longer.

    Example:
        predict_step(8, 4, 2, torch.float32, 1e9, 1e9)["flops"]     # 1280
        predict_step(8, 4, 2, torch.float32, 1e9, 1e9)["memory"]    # 640
    """
    raise NotImplementedError


def measure_device(n: int, rows: int) -> tuple[float, float]:
    """Return the pair (FLOP/s, bytes/s) of the default device, by timing two float32 matmuls with your `time_matmul`.

        FLOP/s      from (n, n) @ (n, n)
        bytes/s     from (rows, n) @ (n, 1)

    Create tensors without `device=`: the caller selects it using `with torch.device("cuda"):`.
    """
    raise NotImplementedError


def measure_step(
    B: int, D: int, L: int, promised: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return `{"seconds": …, "mfu": …}` for a float32 step of your DeepNetwork, the MFU relative to `promised` FLOP/s.

    `clock()` waits until the device is idle, then returns the time in seconds. Warm up with at least one step, then
    time at least three more.

    Example:
        measured = measure_step(B=64, D=64, L=2, promised=1e12)
        predicted = predict_step(64, 64, 2, torch.float32, 1e15, 1e15)
        measured["seconds"] > predicted["seconds"]     # True: the real step is slower than predicted

    Not specified (any choice is fine): mean, median or minimum; the values of x; how SGD is implemented.
    """
    raise NotImplementedError
