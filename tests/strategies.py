"""Hypothesis strategies for the inputs of the property tests.

Hypothesis draws shapes, a few scalars and a seed that determines the elements, so that drawing is fast and a failing
example shrinks to a small shape.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

from tests.probes.same_storage import COPIES, VIEWS

DTYPES = st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.float16])
WIDE_DTYPES = st.sampled_from([torch.float32, torch.float64, torch.bfloat16])  # squares of gradients do not overflow
DEFAULT_DTYPES = st.sampled_from(["float32", "float64"])  # arguments of torch.set_default_dtype
BETAS = st.sampled_from([(0.9, 0.999), (0.9, 0.95), (0.5, 0.9), (0.9, 0.5), (0.1, 0.9)])
NO_EPS = 1e-30  # an eps that has no visible effect
FORGETTING = {"betas": (1e-9, 1e-9), "eps": 1.0}  # options of Adam for averages of nearly only the last gradient
SEEDS = st.integers(0, 2**32 - 1)
SEQUENCES = st.sampled_from(["tuple", "list", "torch.Size"])  # the kinds of Sequence[int] in a stub

costly = settings(
    max_examples=max(10, settings().max_examples // 4)
)  # for tests that perform several steps or write files


def sizes(simplest: int, most: int = 5, least: int = 1) -> st.SearchStrategy[int]:
    """Draw a size. Hypothesis shrinks to `simplest`, which shows mistakes best, and to 0 only if necessary."""
    others = [size for size in range(max(1, least), most + 1) if size != simplest]
    return st.sampled_from([simplest, *others, *([0] if least == 0 else [])])


SIZES = sizes(2)


class HalvesGenerator(np.random.Generator):
    """Draws halves such as -1.5 and 2 in place of normally distributed numbers, and powers of ten as magnitudes."""

    def standard_normal(self, size: Any = None) -> Any:  # type: ignore[override]
        return self.choice([-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0], size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return np.round(super().uniform(low, high, size))


def rng_of(seed: int) -> np.random.Generator:
    """Return the random generator for the elements of one example. Seed 0, the simplest one, makes them readable."""
    return np.random.default_rng(seed) if seed else HalvesGenerator(np.random.PCG64(seed))


def normal(rng: np.random.Generator, shape: tuple[int, ...] | list[int], dtype: torch.dtype = torch.float32) -> Tensor:
    """Return normally distributed elements."""
    return torch.from_numpy(rng.standard_normal(shape)).to(dtype)


def from_tiny_to_large(
    rng: np.random.Generator,
    shape: list[int],
    dtype: torch.dtype = torch.float32,
    powers: tuple[float, float] = (-4, 2),
) -> Tensor:
    """Return elements of random sign with log-uniform magnitudes between two powers of ten, by default 1e-4 and 100."""
    return torch.from_numpy(rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.uniform(*powers, shape)).to(dtype)


@st.composite
def recipes(draw: st.DrawFn, steps: tuple[str, ...] = VIEWS + COPIES) -> tuple[Tensor, list[list[Any]]]:
    """Draw a root tensor and steps `[source, step, a, b]`, each of which creates a new tensor from an earlier one."""
    shape = draw(st.lists(st.integers(1, 3), min_size=0, max_size=3))
    dtype = draw(st.sampled_from([torch.float32, torch.int32, torch.float64, torch.int64]))
    dtype = {torch.float64: torch.float32, torch.int64: torch.int32}.get(dtype, dtype)
    first = draw(st.sampled_from([0, -1]))  # all bits of an int that is -1 are set
    root = torch.arange(first, first + int(np.prod(shape)), dtype=dtype).reshape(shape)
    small = st.integers(0, 3)
    recipe = [
        [draw(st.integers(0, i)), draw(st.sampled_from(steps)), draw(small), draw(small)]
        for i in range(draw(st.integers(1, 4)))
    ]
    return root, recipe


@dataclass(frozen=True)
class TokenCase:
    """A token file and the arguments of `get_batch`."""

    data: Tensor
    batch_size: int
    sequence_length: int
    seed: int


@st.composite
def token_cases(draw: st.DrawFn, windows: st.SearchStrategy[int], least_rows: int = 2) -> TokenCase:
    """Draw random tokens up to the dtype's maximum, at most 5 rows, and a number of start positions (`windows`)."""
    sequence_length = draw(st.integers(least_rows, 6))
    dtype, largest = draw(st.sampled_from([(np.uint16, 2**16 - 1), (np.int32, 2**31 - 1), (np.int64, 2**63 - 1)]))
    vocabulary = draw(st.sampled_from([50257, largest, 2]))
    seed = draw(SEEDS)
    rng = rng_of(seed)
    tokens = rng.integers(0, vocabulary, sequence_length + draw(windows), dtype=dtype, endpoint=vocabulary == largest)
    return TokenCase(torch.from_numpy(tokens), draw(st.integers(least_rows, 5)), sequence_length, seed)


def permutation(length: int, seed: int) -> Tensor:
    """Return shuffled distinct tokens, so that each token identifies its position."""
    return torch.from_numpy(rng_of(seed).permutation(length) + 17)


@dataclass(frozen=True)
class LinearCase:
    """A weight, an input with any number of leading dimensions, and a gradient for the output."""

    weight: Tensor
    x: Tensor
    grad_y: Tensor


@st.composite
def linear_cases(draw: st.DrawFn) -> LinearCase:
    """Draw input and output sizes that usually differ, and up to three leading dimensions, including sizes 0 and 1."""
    leading = draw(st.lists(sizes(4, 4, 0), min_size=0, max_size=3))
    input_dim, output_dim = draw(sizes(3, 40)), draw(sizes(2))
    dtype = draw(DTYPES)
    rng = rng_of(draw(SEEDS))
    return LinearCase(
        normal(rng, [input_dim, output_dim], dtype),
        normal(rng, [*leading, input_dim], dtype),
        normal(rng, [*leading, output_dim], dtype),
    )


@dataclass(frozen=True)
class DeepCase:
    """The weights of a deep linear model, a batch, and a gradient for the outputs."""

    weights: list[Tensor]
    x: Tensor
    grad_y: Tensor


@st.composite
def deep_cases(
    draw: st.DrawFn,
    batch: st.SearchStrategy[int],
    num_layers: st.SearchStrategy[int] = st.integers(0, 4),  # noqa: B008  (a strategy is a description)
) -> DeepCase:
    """Draw a deep linear model with a few square layers, a batch, and a gradient for the outputs."""
    dim, depth, rows = draw(sizes(3)), draw(num_layers), draw(batch)
    rng = rng_of(draw(SEEDS))
    weights = [normal(rng, [dim, dim]) for _ in range(depth)] + [normal(rng, [dim, 1])]
    return DeepCase(weights, normal(rng, [rows, dim]), normal(rng, [rows]))


@dataclass(frozen=True)
class OptimizerRun:
    """A run of an optimizer: `params[group][i]`, `lrs[step][group]`, `grads[step][group][i]`."""

    params: list[list[Tensor]]
    lrs: list[list[float]]
    grads: list[list[list[Tensor | None]]]
    options: Sequence[dict[str, Any]] = ()  # options of each group except lr; if empty, all have their defaults


@st.composite
def runs(
    draw: st.DrawFn,
    *,
    groups: int = 1,
    steps: int = 1,
    changing: bool = False,
    absent: bool = False,
    dtypes: st.SearchStrategy[torch.dtype] = st.just(torch.float32),  # noqa: B008  (a strategy is a description)
    powers: tuple[float, float] = (-4, 2),
    any_shape: bool = False,
    own_rates: bool = False,
) -> OptimizerRun:
    """Draw an optimizer run with one learning rate and gradients whose magnitudes lie between two `powers` of ten.

    All parameters are matrices, unless `any_shape` is set.

    Args:
        draw: Hypothesis's function.
        changing: Change the learning rates between steps.
        absent: Set one gradient to None.
        any_shape: Draw scalars, vectors and sizes 0 and 1 as well.
        own_rates: Give the second of two groups a different learning rate, which may be 0 (if `changing`, at first).
    """
    known = [[2, 3], [2], [], [1], [0], [2, 1]] if any_shape else [[2, 3], [3, 2]]
    shapes = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
    dtype = draw(dtypes)
    second = [0.5, 0.0] if own_rates else [0.1]
    first = [0.1, draw(st.sampled_from(second))] if groups > 1 else [draw(st.sampled_from([0.1, 0.5, 1e-3]))]
    factors = (CHANGES if changing else [1.0] * steps)[:steps]
    lrs = [[round(lr * factor, 9) for lr in first] for factor in factors]
    if changing and first[-1] == 0.0:
        lrs[1:] = [[lr, round(0.5 * factor, 9)] for (lr, _), factor in zip(lrs[1:], factors[1:], strict=True)]
    rng = rng_of(draw(SEEDS))
    params = [split_elements(normal(rng, [count_elements(shapes)], dtype), shapes) for _ in range(groups)]
    grads: list[list[list[Tensor | None]]] = [
        [
            [*split_elements(from_tiny_to_large(rng, [count_elements(shapes)], dtype, powers), shapes)]
            for _ in range(groups)
        ]
        for _ in range(steps)
    ]
    if absent:
        grads[draw(st.sampled_from([*range(1, steps), 0]))][0][draw(st.integers(0, len(shapes) - 1))] = None
    return OptimizerRun(params, lrs, grads)


CHANGES = [1.0, 0.1, 2.0]


def start_at_zero(run: OptimizerRun) -> OptimizerRun:
    """Set all parameters to 0 so that every digit of a step is visible."""
    return replace(run, params=[[p * 0 for p in group] for group in run.params])


def count_elements(shapes: list[list[int]]) -> int:
    """Return the total number of elements of the given shapes."""
    return sum(math.prod(shape) for shape in shapes)


def split_elements(elements: Tensor, shapes: list[list[int]]) -> list[Tensor]:
    """Split a vector of drawn elements into tensors of the given shapes."""
    parts = torch.split_with_sizes(elements, [math.prod(shape) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


@dataclass(frozen=True)
class Lesson:
    """The initial weights of a deep linear model, and its batches: `xs[step]`, `ys[step]`."""

    weights: list[Tensor]
    rows: int
    xs: list[Tensor]
    ys: list[Tensor]


@st.composite
def lessons(draw: st.DrawFn, steps: st.SearchStrategy[int], num_layers: st.SearchStrategy[int]) -> Lesson:
    """Draw initial weights and a few batches of a few rows."""
    dim, rows, depth, count = draw(sizes(3)), draw(sizes(2, 4)), draw(num_layers), draw(steps)
    rng = rng_of(draw(SEEDS))
    xs = [normal(rng, [rows, dim]) for _ in range(count)]
    ys = [normal(rng, [rows]) for _ in range(count)]
    return Lesson(deep_weights(rng, dim, depth), rows, xs, ys)


def deep_weights(rng: np.random.Generator, dim: int, num_layers: int) -> list[Tensor]:
    """Return weights that are about as large as a Cruncher's initial weights, with the final layer's weight last."""
    return [normal(rng, shape) / dim**0.5 for shape in [[dim, dim]] * num_layers + [[dim, 1]]]
