"""Questions that `kata predict memory_accounting` asks."""

from reference.memory_accounting import oracle

QUESTIONS = {
    "adam": {
        "text": "How large are the parameters, the gradients and Adam's state of a model with {billions} billion "
        "parameters, all in float32?",
        "unit": "bytes",
        "sizes": {"billions": (1.5, 3, 7, 13, 30, 70, 175)},
        "answer": lambda billions: oracle.training_bytes(1, 0) * billions * 1e9,
        "formula": "{billions}e9 parameters · (4 + 4 + 8) bytes = {right}: four times the model itself.",
    },
    "activations": {
        "text": "Each of {layers} linear layers, {dim} to {dim}, keeps its float32 input for the backward pass. How "
        "much memory do these activations need for a batch of {batch} rows?",
        "unit": "bytes",
        "sizes": {"layers": (12, 24, 48, 96), "dim": (768, 1024, 4096, 12288), "batch": (64, 256, 1024, 4096)},
        "answer": lambda layers, dim, batch: oracle.training_bytes(0, 1) * layers * dim * batch,
        "formula": "{layers} layers · {batch} · {dim} elements · 4 bytes = {right}: proportional to the batch.",
    },
    "largest_model": {
        "text": "How many parameters fit on {devices} devices with {gigabytes}e9 bytes each, if each parameter needs "
        "{each} bytes (with its gradient and the optimizer's state) and there are no activations?",
        "unit": "parameters",
        "sizes": {"devices": (1, 2, 4, 8, 16), "gigabytes": (24, 40, 80, 141), "each": (12, 16, 18)},
        "answer": lambda devices, gigabytes, each: oracle.max_parameters(devices, gigabytes * 1e9, each),
        "formula": "{devices} · {gigabytes}e9 bytes / {each} bytes = {right} parameters.",
    },
}
