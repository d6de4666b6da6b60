"""Compute: how long does a matrix multiplication take?"""

import time

import torch
from jaxtyping import Float
from torch import Tensor


def time_matmul(a: Float[Tensor, "m k"], b: Float[Tensor, "k n"]) -> float:
    """Return how many seconds one `a @ b` takes, as a float.

    - Warm up: the first product of a shape loads libraries, picks a kernel and allocates memory, and may take a
      thousand times as long as those after it. Do at least one that does not count.
    - Repeat: time at least three products after that, and return the seconds of one: the mean, the median or the
      fastest, as you like. One product alone may have been disturbed.
    - Use a clock that never jumps: `time.perf_counter`, `time.monotonic`, `timeit`, or CUDA events. `time.time` follows
      the calendar, which is set now and then; `time.process_time` adds up threads, and stands still while waiting.
    - Synchronise: on a CUDA device `a @ b` returns when the product has been queued, not when it is done. Wait with
      `torch.cuda.synchronize()` before you start the clock (the device may still have other work) and again before
      you read it. For tensors on the CPU there is nothing to wait for, and there may be no CUDA to ask.

    Example:
        x, w = torch.randn(1024, 256), torch.randn(256, 64)
        seconds = time_matmul(x, w)                    # if five products take 0.0005 s in all: 0.0001
        flop_per_sec = 2 * 1024 * 256 * 64 / seconds   # 3.4e11: what your machine really does
        0 < flop_per_sec < 1e15                        # True

    Both matrices stay as they were. Left to you: how many products, and whether the result is written into memory of
    your own.
    """
    raise NotImplementedError
