"""Time a matrix multiplication."""

import time

import torch
from jaxtyping import Float
from torch import Tensor


def time_matmul(a: Float[Tensor, "m k"], b: Float[Tensor, "k n"]) -> float:
    """Return the time that one `a @ b` takes, in seconds, as a float.

    Example:
        x, w = torch.randn(1024, 256), torch.randn(256, 64)
        seconds = time_matmul(x, w)                    # 0.0001 if five matmuls take 0.0005 s in total
        flop_per_sec = 2 * 1024 * 256 * 64 / seconds   # for example 3.4e11
        0 < flop_per_sec < 1e15                        # True

    Details:
    - Warm up with at least one whole `a @ b` whose time you do not use: the first matmul of a shape loads libraries and
      selects a kernel, and may take a thousand times as long.
    - Time at least three further matmuls, and return the mean, the median or the minimum of the seconds per matmul.
    - Use a monotonic clock, such as `time.perf_counter`, `time.monotonic`, `timeit`, or CUDA events. `time.time` jumps
      when the system clock is set; `time.process_time` adds up the CPU time of all threads and does not include time
      spent waiting.
    - On a CUDA device, `a @ b` only queues the matmul. Call `torch.cuda.synchronize()` before you start the clock,
      since the device may still be busy, and again before you stop the clock. CPU tensors do not need it, and on a
      machine without CUDA it raises an error.
    - Do not modify the matrices.

    Not specified (any choice is fine): the number of matmuls; whether you write the result into a preallocated output
    tensor.
    """
    raise NotImplementedError
