"""Time a matrix multiplication."""

import time

import torch
from jaxtyping import Float
from torch import Tensor


def time_matmul(a: Float[Tensor, "m k"], b: Float[Tensor, "k n"]) -> float:
    """Return the seconds that one `a @ b` takes, as a float.

    Example:
        x, w = torch.randn(1024, 256), torch.randn(256, 64)
        seconds = time_matmul(x, w)                    # if five products take 0.0005 s in all: 0.0001
        flop_per_sec = 2 * 1024 * 256 * 64 / seconds   # 3.4e11: what your machine reaches
        0 < flop_per_sec < 1e15                        # True

    Details:
    - Warm up with at least one product that does not count: the first one of a shape loads libraries and picks a
      kernel, and may take a thousand times as long.
    - Time at least three further products, and return the mean, the median or the minimum of one product's seconds.
    - Use a clock that never jumps: `time.perf_counter`, `time.monotonic`, `timeit`, or CUDA events. `time.time` jumps
      when the system clock is set; `time.process_time` adds up the CPU time of all threads and does not count waiting.
    - Synchronize: on a CUDA device `a @ b` only queues the product. Call `torch.cuda.synchronize()` before you start
      the clock, since the device may still be busy, and again before you read it. For CPU tensors do not call it:
      there may be no CUDA.
    - Do not modify the matrices.

    Not specified (either is fine): the number of products; writing into an output tensor of your own.
    """
    raise NotImplementedError
