"""Questions that `kata predict time_matmul` asks."""

from statistics import median
from timeit import repeat

import torch


def measure(n: int, dtype: torch.dtype = torch.float32) -> float:
    """Return the seconds that the product of two (n, n) matrices takes on this machine's CPU."""
    a, b = torch.randn(n, n).to(dtype), torch.randn(n, n).to(dtype)
    return median(repeat(lambda: a @ b, number=1, repeat=7))


QUESTIONS = {
    "flops": {
        "text": "How many FLOPs does the product of a {m} × {k} and a {k} × {n} matrix need?",
        "unit": "FLOPs",
        "sizes": {"m": (512, 1024, 4096), "k": (256, 768, 2048), "n": (64, 1024, 3072)},
        "answer": lambda m, k, n: 2 * m * k * n,
        "formula": "2 · {m} · {k} · {n} = {right}: divided by the seconds, this is the FLOP/s that you achieve.",
    },
    "seconds": {
        "text": "How many seconds does the product of two {n} × {n} matrices in float32 take on this machine's CPU?",
        "unit": "seconds",
        "sizes": {"n": (512, 768, 1024, 1536)},
        "answer": measure,
        "formula": "2 · {n}³ FLOPs / the FLOP/s of this CPU = {right} seconds. A core performs 1e10 to 2e11 FLOP/s.",
        "measured": True,
    },
    "dtype": {
        "text": "How many times as long as in float32 does the product of two {n} × {n} matrices take in {dtype} on "
        "this machine's CPU?",
        "unit": "times",
        "sizes": {"n": (512, 768, 1024), "dtype": ("float64", "bfloat16")},
        "answer": lambda n, dtype: measure(n, getattr(torch, dtype)) / measure(n),
        "formula": "seconds in {dtype} / seconds in float32 = {right}. float64 takes about twice as long, because "
        "half as many numbers fit into a vector register. bfloat16 is faster only if the CPU has units for it; "
        "without them, it may be five times slower.",
        "measured": True,
    },
}
