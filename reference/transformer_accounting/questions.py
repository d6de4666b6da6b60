"""Questions that `kata predict transformer_accounting` asks."""

from reference.transformer_accounting import oracle
from reference.transformer_accounting.oracle import Config

SIZES = {"layers": (12, 24, 32), "width": (768, 1024, 2048)}


def make_config(layers: int, width: int, context: int) -> Config:
    """Return the configuration in the questions' texts."""
    return Config(layers, width, width // 64, 4 * width, 50257, context, tied=True)


def find_batch(layers: int, width: int, context: int) -> int:
    """Return the largest batch for 80e9 bytes."""
    c = make_config(layers, width, context)
    fixed, sequence = (
        oracle.training_bytes(n, kept) for n, kept in ((oracle.num_parameters(c), 0), (0, oracle.activations(c, 1)))
    )
    return oracle.max_batch(fixed, sequence, 80e9)


QUESTIONS = {
    "parameters": {
        "text": "How many parameters does this kata's Transformer have with {layers} layers of width {width}, an MLP "
        "four times as wide, a context of {context}, and 50257 tokens, whose embedding is also the output matrix?",
        "unit": "parameters",
        "sizes": {**SIZES, "context": (512, 1024, 2048)},
        "answer": lambda layers, width, context: oracle.num_parameters(make_config(layers, width, context)),
        "formula": "{layers} · 12 · {width}² + (50257 + {context}) · {width} and the gains: {right}.",
    },
    "half_context": {
        "text": "From which context on does attention (queries by keys, and scores by values) take more than half of "
        "this Transformer's FLOPs, with {layers} layers of width {width}, an MLP four times as wide, and 50257 tokens?",
        "unit": "tokens",
        "sizes": SIZES,
        "answer": lambda layers, width: oracle.half_context(make_config(layers, width, 1)),
        "formula": "2 · context · {width} = 12 · {width}² + 50257 · {width} / {layers}, so about {right}.",
    },
    "batch": {
        "text": "How many sequences of {context} tokens fit into 80e9 bytes if this Transformer, with {layers} layers "
        "of width {width}, heads of 64, an MLP four times as wide and 50257 tokens (tied), is trained with AdamW "
        "in float32?",
        "unit": "sequences",
        "sizes": {**SIZES, "context": (512, 1024, 2048)},
        "answer": find_batch,
        "formula": "80e9 bytes, minus 16 for each parameter, divided by about 4 · {layers} · {context} · (10 · {width} "
        "+ {width} / 64 · {context}): {right}.",
    },
}
