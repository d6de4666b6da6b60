"""Questions that `kata predict promised_flops` asks."""

from reference.promised_flops import oracle

QUESTIONS = {
    "mfu": {
        "text": "A training step of {petaflops}e15 FLOPs takes {seconds} seconds on a GPU that promises 989.5e12 "
        "FLOP/s. What is its MFU?",
        "unit": "",
        "sizes": {"petaflops": (1, 2, 3, 5), "seconds": (6, 8, 10, 12)},
        "answer": lambda petaflops, seconds: oracle.mfu(petaflops * 1e15, seconds, 989.5e12),
        "formula": "{petaflops}e15 FLOPs / {seconds} s / 989.5e12 FLOP/s = {right}.",
    },
    "dense": {
        "text": "A datasheet promises {teraflops}e12 FLOP/s in bfloat16 with sparsity. What does it promise for dense "
        "matrices?",
        "unit": "FLOP/s",
        "sizes": {"teraflops": (624, 1513, 1979, 4500)},
        "answer": lambda teraflops: teraflops * 1e12 / 2,
        "formula": "{teraflops}e12 / 2 = {right}: sparsity means that two of every four consecutive elements are zero.",
    },
    "seconds": {
        "text": "How many seconds does a step of {petaflops}e15 FLOPs take on a GPU that promises {teraflops}e12 "
        "FLOP/s, at an MFU of {mfu}?",
        "unit": "seconds",
        "sizes": {"petaflops": (1, 2, 5, 10), "teraflops": (65, 312, 989.5, 2250), "mfu": (0.25, 0.4, 0.5)},
        "answer": lambda petaflops, teraflops, mfu: oracle.mfu(petaflops * 1e15, mfu, teraflops * 1e12),
        "formula": "{petaflops}e15 FLOPs / ({mfu} · {teraflops}e12 FLOP/s) = {right} seconds.",
    },
}
