"""Tests that each number stated in `docs/katas.md` agrees with its computed value."""

import math
import re
from collections.abc import Callable
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import pytest
import torch
from torch import nn

from grader.tests import ROOT
from grader.tests.support.examples import FIGURE, Names, collect_names, convert_to_python, rounds_to
from grader.tests.support.solution import SOLUTION

SECTIONS = re.compile(r"^### (\w+): .*\n((?:(?!##).*\n)*)", re.MULTILINE)


def step(
    optimizer: Callable[..., Any], gradient: Callable[[float], float], steps: int, **options: float
) -> list[float]:
    """Return the initial value of a parameter, which is 1, and its value after each step."""
    p = nn.Parameter(torch.ones(1, dtype=torch.float64))
    made = optimizer([p], **options)
    places = [1.0]
    for _ in range(steps):
        p.grad = torch.tensor([gradient(p.item())], dtype=torch.float64)
        made.step()
        places.append(p.item())
    return places


def compute_steps(optimizer: Callable[..., Any], gradients: list[float]) -> list[float]:
    """Return the step after each of the given gradients at a learning rate of 1, which equals the momentum."""
    ahead = iter(gradients)
    places = step(optimizer, lambda _: next(ahead), len(gradients), lr=1.0)
    return [before - after for before, after in pairwise(places)]


def add_thousandths(dtype: torch.dtype) -> float:
    total = torch.ones(1, dtype=dtype)
    for _ in range(1000):
        total += 0.001
    return total.item()


LAYERS, WIDTH, TOKENS, CONTEXT = 48, 1600, 50257, 1024  # of GPT-2 XL
GPT2_XL = {
    "layers": LAYERS,
    "width": WIDTH,
    "heads": 25,
    "hidden": 6400,
    "vocab": TOKENS,
    "context": CONTEXT,
    "tied": True,
}
PARAMETERS = LAYERS * (12 * WIDTH**2 + 13 * WIDTH) + (TOKENS + CONTEXT + 2) * WIDTH


def count_flops(context: int = CONTEXT) -> tuple[int, int]:
    """Return the FLOPs of GPT-2 XL's forward pass on one token: in products with weights, and in attention."""
    return 2 * (LAYERS * 12 * WIDTH**2 + TOKENS * WIDTH), LAYERS * 4 * context * WIDTH


def compute_product_errors(size: int = 512) -> list[float]:
    """Return the relative errors of a product of normal matrices in bfloat16, fp8 and fp4, in percent."""
    torch.manual_seed(0)
    x, w = torch.randn(size, size, dtype=torch.float64), torch.randn(size, size, dtype=torch.float64)
    scaled_matmul: Any = collect_names("block_scaling", SOLUTION)["scaled_matmul"]
    products = [x.bfloat16() @ w.bfloat16(), *(scaled_matmul(x.float(), w.float(), 16, bits) for bits in (8, 4))]
    return [100 * float((each - x @ w).norm() / (x @ w).norm()) for each in products]


HELP: Names = {
    "step": step,
    "compute_product_errors": compute_product_errors,
    "count_flops": count_flops,
    "PARAMETERS": PARAMETERS,
    "GPT2_XL": GPT2_XL,
    "compute_steps": compute_steps,
    "add_thousandths": add_thousandths,
    "gauss": NormalDist(),
    "math": math,
    "BYTES": ("float32", "bfloat16", "float8_e5m2"),
}
FIGURES = [  # a kata, words from its section of docs/katas.md, and the computed value of each number in them, in order
    ("same_storage", "shape 2 × 3, which takes 24 bytes", "2, 3, torch.zeros(2, 3).nbytes"),
    ("linear", "`(2, 3) @ (3, 4)` is `(2, 4)`", "2, 3, 3, 4, *(torch.ones(2, 3) @ torch.ones(3, 4)).shape"),
    ("cruncher", "= 14 parameters", "sum(p.numel() for p in Cruncher(2, 3).parameters()),"),
    ("sgd", "`lr = 0.25` moves p from 1 to 0.5 to 0.25", "0.25, *step(SGD, lambda p: 2 * p, 2, lr=0.25)"),
    ("sgd", "`lr = 1` moves it from 1 to −1 and back", "1, *step(SGD, lambda p: 2 * p, 1, lr=1)"),
    ("adagrad", "the step is 0.30 `lr`", "1 - step(AdaGrad, lambda p: 0.001, 1, lr=1)[1],"),
    ("adagrad", "and 0.99 `lr` if it is added outside", "0.001 / (0.001 + 1e-5),"),
    ("checkpoint", "= 0.62 `lr`", "4 / sqrt(3**2 + 4**2 + 4**2),"),
    ("floating_point", "The largest float16 is 65504", "largest(torch.float16),"),
    ("floating_point", "257 becomes 256", "257, torch.tensor(257.0).bfloat16().item()"),
    ("floating_point", "takes 60, 30 or 15 bytes", "*[storage_bytes((3, 5), getattr(torch, name)) for name in BYTES],"),
    ("floating_point", "6.1e-5 in float16", "torch.finfo(torch.float16).tiny,"),
    ("floating_point", "go down to 6.0e-8", "2**-24,"),
    ("strides", "strides (1, 3)", "*reversed(contiguous_strides((2, 3))),"),
    ("strides", "float32 are (12, 4)", "*np.zeros((2, 3), np.float32).strides,"),
    ("memory_accounting", "takes 96 bytes", "training_bytes(6, 0),"),
    ("memory_accounting", "112 GB", "training_bytes(7 * 10**9, 0) / 1e9,"),
    ("memory_accounting", "takes 105 MB", "2 * 32 * 1024 * 1600 / 1e6,"),
    ("memory_accounting", "8.7e6 parameters at 2 + 2 + 8", "32 * 1024 * 1600 * 2 / 12, 2, 2, 8"),
    ("block_scaling", "fp4 has 15 values between −6 and 6", "2 * len(FP4) - 1, -FP4.max().item(), FP4.max().item()"),
    ("block_scaling", "0.3% in bfloat16, 3% in fp8 and 13% in fp4", "*compute_product_errors(),"),
    ("memmap_tokens", "take 2.8 TB instead of 11.2", "1.4e12 * 2 / 1e12, 1.4e12 * 8 / 1e12"),
    ("memmap_tokens", "the bytes 7 0 8 0 9 0", "*np.array([7, 8, 9], '<u2').tobytes(),"),
    ("named_dimensions", "give scores of shape (2, 3)", "*attention_scores(torch.ones(2, 5), torch.ones(3, 5)).shape,"),
    ("puzzles", "and has shape (2, 3)", "*(torch.ones(2)[:, None] - torch.ones(3)).shape,"),
    ("puzzles", "`(w w2)` gives 1 1 2 2", "*repeat(torch.tensor([1, 2]), 'w -> (w w2)', w2=2),"),
    ("puzzles", "`(w2 w)` gives 1 2 1 2", "*repeat(torch.tensor([1, 2]), 'w -> (w2 w)', w2=2),"),
    ("flop_accounting", "which makes 48 FLOPs", "matmul_flops(2, 3, 4),"),
    ("flop_accounting", "takes 1.2e20 FLOPs", "training_flops(20e9, 1e9),"),
    ("flop_accounting", "needs 2.8 days", "training_days(1e9, 20e9, 1, 989.5e12, 0.5),"),
    ("promised_flops", "peak is 15 times", "989.4 / 67,"),
    ("promised_flops", "400 TFLOP/s are 40%", "400, 100 * mfu(400e12, 1, 989.4e12)"),
    ("promised_flops", "your MFU would be only 20%", "100 * mfu(400e12, 1, 1979e12),"),
    ("time_matmul", "at its peak needs 1.1 ms", "2 * 8192**3 / 989.4e12 * 1000,"),
    ("time_matmul", "shows 1.1e17 FLOP/s", "2 * 8192**3 / 10e-6,"),
    ("roofline", "is 295 FLOPs", "accelerator_intensity(989.5e12, 3.35e12),"),
    ("roofline", "an intensity of 0.25", "arithmetic_intensity(*relu_work(8, torch.bfloat16)),"),
    (
        "roofline",
        "bytes, so it has an intensity of 0.46",
        "arithmetic_intensity(*matrix_matrix_work(2, 3, 4, torch.float32)),",
    ),
    ("transformer_accounting", "six matrices of a layer have 30,720,000 elements", "12 * 1600**2,"),
    ("transformer_accounting", "both embeddings together 82,049,600", "(50257 + 1024) * 1600,"),
    ("transformer_accounting", "the sum is 1,557,611,200", "PARAMETERS,"),
    ("transformer_accounting", "no biases: 1,556,764,800", "num_parameters(Config(**GPT2_XL)),"),
    ("transformer_accounting", "6.2 GB in float32", "4e-9 * PARAMETERS,"),
    ("transformer_accounting", "24.9 GB (16 per parameter)", "16e-9 * PARAMETERS, 16"),
    ("transformer_accounting", "or 18.7 GB (2 + 2 + 8)", "12e-9 * PARAMETERS, 2, 2, 8"),
    ("transformer_accounting", "takes 3.1e9 FLOPs in products with weights", "count_flops()[0],"),
    ("transformer_accounting", "at the full context, 3.1e8 FLOPs between tokens", "count_flops()[1],"),
    ("transformer_accounting", "A sequence takes 3.5e12", "1024 * sum(count_flops()),"),
    ("transformer_accounting", "9% of them between tokens", "100 * count_flops()[1] / sum(count_flops()),"),
    (
        "transformer_accounting",
        "a context of 16384, they are 62%",
        "16384, 100 * count_flops(16384)[1] / sum(count_flops(16384))",
    ),
    (
        "transformer_accounting",
        "one sequence keeps 8.2 GB, of which 5.0 GB are scores",
        "(training_bytes(Config(**GPT2_XL), 1) - 16 * num_parameters(Config(**GPT2_XL))) / 1e9, 4800 * 1024**2 / 1e9",
    ),
    ("transformer_accounting", "an 80 GB device trains on 6 sequences", "80, max_batch(Config(**GPT2_XL), 80e9)"),
    ("initialization", "0.27% of the values are beyond", "200 * gauss.cdf(-3),"),
    ("initialization", "45,000 weights in a matrix of 4096", "round(2 * gauss.cdf(-3) * 4096**2, -3), 4096"),
    ("deep_network", "about 1/32 as large", "1, 1 / sqrt(0.5**10)"),
    ("measure_step", "5 products of 256 FLOPs", "3 * 2 - 1, matrix_matrix_work(8, 4, 4, torch.float32)[0]"),
    ("measure_step", "5 · 256 = 1280", "5, 256, predict_step(8, 4, 2, torch.float32, 1, 1)['flops']"),
    ("attention", "For d = 64, its standard deviation is 8", "64, sqrt(64)"),
    (
        "attention",
        "the scores 0 and 8 is 0.0003 and 0.9997",
        "0, 8, *torch.tensor([0.0, 8.0], dtype=torch.float64).softmax(0).tolist()",
    ),
    (
        "attention",
        "the scores 0 and 1 have the weights 0.27 and 0.73",
        "0, 1, *torch.tensor([0.0, 1.0], dtype=torch.float64).softmax(0).tolist()",
    ),
    ("attention", "For 8192 tokens and 32 heads, they take 8.6 GB", "8192, 32, 4 * 32 * 8192**2 / 1e9"),
    ("kv_cache", "numbers take 315 MB", "cache_bytes(48, 1024, 1600, itemsize=2) / 1e6,"),
    ("kv_cache", "of the 3.1 GB of its weights", "2e-9 * PARAMETERS,"),
    ("kv_cache", "7e9 weights are 14 GB", "7e9, 2 * 7e9 / 1e9"),
    ("kv_cache", "at most 239 tokens per second", "tokens_per_second(14e9, 0, 3.35e12),"),
    ("kv_cache", "from 296 sequences on", "compute_bound_batch(989.5e12, 3.35e12, itemsize=2),"),
    (
        "kv_cache",
        "32 layers of width 4096 and 1024 tokens, 0.54 GB",
        "32, 4096, 1024, cache_bytes(32, 1024, 4096, itemsize=2) / 1e9",
    ),
    ("language_model", "a loss of log(256) = 5.55 nats", "256, math.log(256)"),
    ("language_model", "a loss of 1.6 is a perplexity of 5.0", "1.6, math.exp(1.6)"),
    ("generate_text", "the probability 0.73 at temperature 1", "1 / (1 + math.exp(-1)), 1"),
    ("generate_text", "and 0.88 at temperature 0.5", "1 / (1 + math.exp(-2)), 0.5"),
    ("momentum", "it becomes 1, 1.9, 2.71", "*compute_steps(Momentum, [1] * 3),"),
    ("momentum", "and eventually 10", "compute_steps(Momentum, [1] * 200)[-1],"),
    ("momentum", "it becomes 1, −0.1, 0.91", "*compute_steps(Momentum, [1, -1, 1]),"),
    ("momentum", "±0.53", "abs(compute_steps(Momentum, [1, -1] * 100)[-1]),"),
    ("rmsprop", "after a hundred steps it is 1.26", "compute_steps(RMSprop, [1] * 100)[-1],"),
    ("rmsprop", "the step is 9.9 `lr`", "1 - step(RMSprop, lambda p: 1e-5, 1, lr=1)[1],"),
    ("rmsprop", "and 0.1 `lr`", "1e-5 / sqrt(0.01 * 1e-10 + 1e-8),"),
    ("adam", "is 3.2", "0.1 / sqrt(0.001),"),
    ("adamw", "to 0.9 here instead of 0.99", "1 - 0.1, step(AdamW, lambda p: 0, 1, lr=0.1, weight_decay=0.1)[1]"),
    ("mixed_precision", "in bfloat16 are 0.9961 and 1.0078", "1 - 2**-8, 1 + 2**-7"),
    ("mixed_precision", "the result is still 1", "add_thousandths(torch.bfloat16),"),
    ("mixed_precision", "in float32 it is 2", "add_thousandths(torch.float32),"),
]


def read_sections() -> dict[str, str]:
    """Return the text of each kata's section in `docs/katas.md`, joined into one line."""
    text = (ROOT / "docs/katas.md").read_text("utf-8")
    return {name: " ".join(body.split()) for name, body in SECTIONS.findall(text)}


@pytest.mark.parametrize(("kata", "words", "computed"), FIGURES, ids=[f"{kata}: {words}" for kata, words, _ in FIGURES])
def test_values_stated_on_the_page_are_correct(kata: str, words: str, computed: str) -> None:
    assert words in read_sections()[kata]
    values = eval(f"({computed})", collect_names(kata, SOLUTION) | HELP)
    written = [convert_to_python(figure) for figure in FIGURE.findall(words)]
    assert len(values) == len(written)
    for value, figure in zip(values, written, strict=True):
        assert rounds_to(value, figure), value
