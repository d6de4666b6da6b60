"""Questions that `kata predict flop_accounting` asks."""

from reference.flop_accounting import oracle

MODEL = {"billions": (1.5, 7, 13, 70, 175), "trillions": (0.3, 1, 2, 15)}

QUESTIONS = {
    "matmul": {
        "text": "How many FLOPs does x @ w need, for x of shape ({B}, {D}) and w of shape ({D}, {K})?",
        "unit": "FLOPs",
        "sizes": {"B": (512, 2048, 16384), "D": (1024, 4096, 32768), "K": (768, 8192, 50257)},
        "answer": lambda B, D, K: oracle.matmul_flops(1, 1, 1, times=B * D * K),
        "formula": "2 · {B} · {D} · {K} = {right}: a multiplication and an addition for each triple of indices.",
    },
    "training": {
        "text": "How many FLOPs does it take to train a model with {billions} billion parameters on {trillions} "
        "trillion tokens?",
        "unit": "FLOPs",
        "sizes": MODEL,
        "answer": lambda billions, trillions: oracle.training_flops(1, 1, times=billions * 1e9 * trillions * 1e12),
        "formula": "6 · {billions}e9 · {trillions}e12 = {right}: 2 in the forward pass and 4 in the backward pass.",
    },
    "days": {
        "text": "How many days does it take to train a model with {billions} billion parameters on {trillions} "
        "trillion tokens with {devices} GPUs of 989.5e12 FLOP/s each, at an MFU of {mfu}?",
        "unit": "days",
        "sizes": {**MODEL, "devices": (256, 1024, 4096), "mfu": (0.3, 0.4, 0.5)},
        "answer": lambda billions, trillions, devices, mfu: oracle.training_days(
            1, 1, devices, 989.5e12, mfu, times=billions * 1e9 * trillions * 1e12
        ),
        "formula": "6 · {billions}e9 · {trillions}e12 / ({devices} · 989.5e12 · {mfu} · 86400 s) = {right} days.",
    },
}
