"""Draws inputs for the tests of generate_text."""

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from tests.language_model_inputs import cases
from tests.strategies import SEEDS, normal, rng_of


@st.composite
def prompts(draw: st.DrawFn) -> tuple[Tensor, Tensor, int]:
    """Draw tables in float64, a prompt that may be longer than the context, and a number of tokens.

    The logits have no ties: all tables contain integers, except that each row of the first has distinct fractions, too.
    They may be nearly equal, so that drawing at a small temperature differs from taking the largest.
    """
    case = draw(cases())
    rng = rng_of(draw(SEEDS))
    context, vocab, _ = case.tables.shape
    prompt = torch.from_numpy(rng.integers(0, vocab, draw(st.integers(1, context + 2))))
    tables = (2 * normal(rng, [context, vocab, vocab], torch.float64)).round()
    tables[0] += torch.from_numpy(rng.permuted(np.tile(np.arange(vocab) / 8, (vocab, 1)), axis=1))
    return tables * draw(st.sampled_from([1.0, 2**-13])), prompt, draw(st.integers(0, 6))
