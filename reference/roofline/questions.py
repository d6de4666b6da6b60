"""Questions that `kata predict roofline` asks."""

from reference.roofline import oracle

QUESTIONS = {
    "matmul": {
        "text": "What is the arithmetic intensity of the product of two {n} × {n} matrices in bfloat16?",
        "unit": "FLOP/byte",
        "sizes": {"n": (96, 192, 384, 768, 1536, 3072)},
        "answer": lambda n: oracle.arithmetic_intensity(2 * n**3, 3 * n**2 * 2),
        "formula": "2 · {n}³ FLOPs / (3 · {n}² · 2 bytes) = {n} / 3 = {right}: large products are compute-bound.",
    },
    "accelerator": {
        "text": "How many FLOPs can a device with {teraflops}e12 FLOP/s perform while it moves one byte, if its memory "
        "moves {terabytes}e12 bytes/s?",
        "unit": "FLOP/byte",
        "sizes": {"teraflops": (65, 312, 362, 989.5, 2250), "terabytes": (0.32, 0.864, 2, 3.35, 8)},
        "answer": lambda teraflops, terabytes: oracle.accelerator_intensity(teraflops * 1e12, terabytes * 1e12),
        "formula": "{teraflops}e12 / {terabytes}e12 = {right}: operations below this intensity are memory-bound.",
    },
    "inference": {
        "text": "What is the highest MFU that the product of a matrix of {n} × {n} and a vector can achieve in "
        "bfloat16, on a device that performs {accelerator} FLOPs while it moves one byte?",
        "unit": "",
        "sizes": {"n": (1024, 4096, 8192), "accelerator": (100, 153, 200, 295, 400)},
        "answer": lambda n, accelerator: oracle.attainable_mfu(
            oracle.arithmetic_intensity(2 * n**2, (n**2 + 2 * n) * 2), accelerator
        ),
        "formula": "2 · {n}² FLOPs / ({n}² · 2 bytes) is about 1 FLOP/byte, and 1 / {accelerator} is about {right}: "
        "the device mostly waits for its memory.",
    },
}
