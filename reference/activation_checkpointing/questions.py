"""Questions that `kata predict activation_checkpointing` asks."""

from math import sqrt

from reference.activation_checkpointing import oracle

QUESTIONS = {
    "kept": {
        "text": "A network of {layers} blocks saves activations only at the boundaries of segments of {segment} "
        "blocks. How many activations does the forward pass save?",
        "unit": "activations",
        "sizes": {"layers": (32, 48, 64, 96), "segment": (2, 4, 8, 16)},
        "answer": lambda layers, segment: oracle.kept(layers, segment),
        "formula": "{layers} / {segment} = {right}, instead of {layers}.",
    },
    "flops": {
        "text": "A training step takes {teraflops}e12 FLOPs without checkpointing. How many does it take if the "
        "forward pass of every block is computed a second time?",
        "unit": "FLOPs",
        "sizes": {"teraflops": (3, 6, 12, 45, 90)},
        "answer": lambda teraflops: teraflops * 1e12 * (2 + 4 + 2) / (2 + 4),
        "formula": "{teraflops}e12 · (2 + 4 + 2) / (2 + 4) = {right}: a third more.",
    },
    "segment": {
        "text": "Checkpointing {layers} blocks keeps one activation per segment and, during the backward pass, those "
        "of a whole segment. Which length of the segments needs the least memory?",
        "unit": "blocks",
        "sizes": {"layers": (16, 36, 64, 100, 144, 256)},
        "answer": lambda layers: sqrt(layers),
        "formula": "{layers} / s + s is smallest for s = √{layers} = {right}.",
    },
}
