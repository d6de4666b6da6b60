"""Draws inputs for the tests of generate_text."""

import torch
from hypothesis import strategies as st
from torch import Tensor

from tests.language_model_inputs import cases
from tests.strategies import SEEDS, normal, rng_of


@st.composite
def prompts(draw: st.DrawFn) -> tuple[Tensor, Tensor, int]:
    """Draw tables in float64 without ties, a prompt that may be longer than the context, and a number of tokens."""
    case = draw(cases())
    rng = rng_of(draw(SEEDS))
    context, vocab, _ = case.tables.shape
    prompt = torch.from_numpy(rng.integers(0, vocab, draw(st.integers(1, context + 2))))
    return normal(rng, [context, vocab, vocab], torch.float64), prompt, draw(st.integers(0, 6))
