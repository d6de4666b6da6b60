"""Questions that `kata predict measure_step` asks."""

from statistics import median
from timeit import repeat

import torch
from torch import nn

from reference.measure_step import oracle

SIZES = {"B": (128, 256, 512), "D": (256, 512, 768), "L": (2, 4, 6)}
STEP = "a training step of DeepNetwork({D}, {L}) on {B} rows in float32"


def measure(B: int, D: int, L: int) -> float:
    """Return the seconds that a training step takes on this machine's CPU with torch's layers and optimizer."""
    layers = [layer for _ in range(L) for layer in (nn.Linear(D, D, bias=False), nn.ReLU())]
    model, x = nn.Sequential(*layers), torch.randn(B, D)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    return median(repeat(step, number=1, repeat=9))


QUESTIONS = {
    "flops": {
        "text": f"How many FLOPs do the matrix products of {STEP} need? (x does not require grad.)",
        "unit": "FLOPs",
        "sizes": SIZES,
        "answer": lambda B, D, L: oracle.model_flops(oracle.step(B, D, L)),
        "formula": "(3 · {L} - 1) products · 2 · {B} · {D}² FLOPs = {right}.",
    },
    "memory": {
        "text": f"How much memory do the parameters, the gradients and the saved activations of {STEP} need?",
        "unit": "bytes",
        "sizes": SIZES,
        "answer": lambda B, D, L: oracle.memory_bytes(D, L, oracle.count_saved(oracle.step(B, D, L)) * B * D, 4),
        "formula": "(2 · {L} · {D}² + ({L} + 1) · {B} · {D}) elements · 4 bytes = {right}.",
    },
    "seconds": {
        "text": f"How many seconds does {STEP} take on this machine's CPU?",
        "unit": "seconds",
        "sizes": SIZES,
        "answer": measure,
        "formula": "(3 · {L} - 1) · 2 · {B} · {D}² FLOPs / the FLOP/s of this CPU is the least; {right} seconds were "
        "measured. The ReLUs and the optimizer add the time to move their bytes.",
        "measured": True,
    },
}
