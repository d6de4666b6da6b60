"""Draws inputs for the tests of language_model."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from tests.strategies import SEEDS, normal, rng_of, sizes

ROWS = sizes(2, 4)


@dataclass(frozen=True)
class Case:
    """The tables of a model with known logits, and windows of tokens. The last token of a window is only a target."""

    tables: Tensor
    batch: Tensor


@st.composite
def cases(draw: st.DrawFn, size: float = 1.0, rows: st.SearchStrategy[int] = ROWS) -> Case:
    """Draw tables whose elements have a magnitude of about `size`, and windows that fill all or part of the context."""
    vocab, context = draw(sizes(3, 5, 2)), draw(sizes(3, 4))
    count, length = draw(rows), draw(st.integers(1, context))
    rng = rng_of(draw(SEEDS))
    batch = torch.from_numpy(rng.integers(0, vocab, [count, length + 1]))
    return Case(size * normal(rng, [context, vocab, vocab]), batch)


@st.composite
def models(draw: st.DrawFn) -> tuple[list[int], int, Tensor]:
    """Draw the sizes of a LanguageModel, the seed of its weights, and tokens."""
    chosen = [draw(sizes(4, 6, 2)), draw(st.sampled_from([4, 6, 8])), draw(st.sampled_from([1, 2, 0])), draw(sizes(3))]
    vocab, _, _, context = chosen
    seed = draw(SEEDS)
    shape = [draw(sizes(2, 3)), draw(st.integers(1, context))]
    return chosen, seed, torch.from_numpy(rng_of(seed).integers(0, vocab, shape))
