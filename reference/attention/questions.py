"""Questions that `kata predict attention` asks."""

import math

QUESTIONS = {
    "scores": {
        "text": "How many scores does one layer compute for {batch} sequences of {tokens} tokens, with {heads} heads?",
        "unit": "scores",
        "sizes": {"batch": (8, 32, 64), "tokens": (1024, 4096, 8192), "heads": (12, 25, 32)},
        "answer": lambda batch, tokens, heads: batch * heads * tokens**2,
        "formula": "{batch} · {heads} · {tokens}² = {right}: twice as many tokens give four times as many scores.",
    },
    "deviation": {
        "text": "The elements of q and k are random with variance 1. What is the standard deviation of their dot "
        "product, before it is scaled, if a head has the width {d}?",
        "unit": "",
        "sizes": {"d": (32, 64, 80, 96, 128, 256)},
        "answer": lambda d: math.sqrt(d),
        "formula": "√{d} = {right}: the variances of {d} products add up.",
    },
    "ratio": {
        "text": "The dot products of a query with two keys differ by {difference}. The width of the head is {d}. How "
        "many times as large is the weight of the better key?",
        "unit": "",
        "sizes": {"difference": (8, 12, 16, 24), "d": (16, 64, 144)},
        "answer": lambda difference, d: math.exp(difference / math.sqrt(d)),
        "formula": "exp({difference} / √{d}) = {right}: without the scale, it would be exp({difference}).",
    },
}
