"""Questions that `kata predict kv_cache` asks."""

from reference.kv_cache import oracle

QUESTIONS = {
    "bytes": {
        "text": "How many GB does the cache of one sequence of {tokens} tokens take in bfloat16, in a model with "
        "{layers} layers of width {width}?",
        "unit": "GB",
        "sizes": {"tokens": (2048, 8192, 32768), "layers": (24, 32, 80), "width": (2048, 4096, 8192)},
        "answer": lambda tokens, layers, width: oracle.cache_bytes(layers, tokens, width, 2, 1) / 1e9,
        "formula": "2 · {layers} · {tokens} · {width} · 2 bytes = {right} GB: a key and a value per layer and token.",
    },
    "speed": {
        "text": "How many tokens per second can a GPU that reads {terabytes}e12 bytes/s generate for one sequence, "
        "with {billions}e9 weights in bfloat16 and a cache of {gigabytes} GB?",
        "unit": "tokens/s",
        "sizes": {"terabytes": (0.3, 0.9, 2, 3.35, 8), "billions": (1.5, 7, 13, 34), "gigabytes": (0.5, 1, 2, 4)},
        "answer": lambda terabytes, billions, gigabytes: oracle.tokens_per_second(
            2e9 * billions, 1e9 * gigabytes, 1e12 * terabytes, 1
        ),
        "formula": "{terabytes}e12 / (2 · {billions}e9 + {gigabytes}e9) = {right}: each token reads weights and cache.",
    },
    "batch": {
        "text": "From which batch on are products with weights compute-bound during decoding in bfloat16, on a GPU "
        "with {teraflops}e12 FLOP/s and {terabytes}e12 bytes/s?",
        "unit": "sequences",
        "sizes": {"teraflops": (65, 312, 989.5, 2250), "terabytes": (0.32, 2, 3.35, 8)},
        "answer": lambda teraflops, terabytes: oracle.compute_bound_batch(teraflops * 1e12, terabytes * 1e12, 2),
        "formula": "{teraflops}e12 / {terabytes}e12, rounded up: {right}. The intensity is the batch size.",
    },
}
