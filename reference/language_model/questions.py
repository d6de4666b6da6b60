"""Questions that `kata predict language_model` asks."""

from math import log

QUESTIONS = {
    "parameters": {
        "text": "How many parameters does LanguageModel({vocab}, {dim}, {layers}, {context}) have? (The attention has "
        "two matrices, {dim} to 3 · {dim} and {dim} to {dim}.)",
        "unit": "parameters",
        "sizes": {"vocab": (256, 1024), "dim": (64, 128, 256), "layers": (2, 4, 6), "context": (64, 128, 256)},
        "answer": lambda vocab, dim, layers, context: (2 * vocab + context) * dim + layers * 12 * dim**2,
        "formula": "{layers} · (4 + 8) · {dim}² in the layers, and (2 · {vocab} + {context}) · {dim} in the embeddings "
        "and the output: {right}.",
    },
    "first_loss": {
        "text": "What is the loss of a model with {vocab} tokens that considers all of them equally likely?",
        "unit": "nats",
        "sizes": {"vocab": (64, 256, 1024, 8192, 50257)},
        "answer": lambda vocab: log(vocab),
        "formula": "log({vocab}) = {right}: the loss before the first step should not be much larger.",
    },
    "flops": {
        "text": "How many FLOPs do the matrix products of LanguageModel({vocab}, {dim}, {layers}, 64) need for {steps} "
        "training steps on 16 windows of 64 tokens, without those between the tokens in the attention?",
        "unit": "FLOPs",
        "sizes": {"vocab": (256, 1024), "dim": (64, 128, 256), "layers": (2, 4, 6), "steps": (100, 500, 2000)},
        "answer": lambda vocab, dim, layers, steps: 6 * (12 * layers * dim**2 + dim * vocab) * 16 * 64 * steps,
        "formula": "6 · ({layers} · 12 · {dim}² + {dim} · {vocab}) parameters · 16 · 64 · {steps} tokens = {right}. An "
        "embedding is looked up, so its parameters need no product.",
    },
}
