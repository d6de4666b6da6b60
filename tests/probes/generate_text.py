"""Probes for generate_text."""

from typing import Any

import torch
from torch import Tensor

from torchkata import typed

from .tables import Tables


@typed(
    "from tests.probes.tables import Tables\n"
    "generator = None if seed is None else torch.Generator().manual_seed(seed)\n"
    "generate(Tables(tables), prompt, n, temperature, generator)"
)
def generate(
    assignment: Any, tables: Tensor, prompt: Tensor, n: int, temperature: float, seed: int | None
) -> dict[str, object]:
    """Continue a prompt. Without a seed, no generator is passed."""
    model, given = Tables(tables), prompt.clone()
    state = torch.get_rng_state()
    more = () if seed is None else (torch.Generator().manual_seed(seed),)
    tokens = assignment.generate_text.generate(model, given, n, temperature, *more)
    return {
        "tokens": tokens,
        "lengths": [length for _, _, length in model.events],
        "prompt": given,
        "global generator used": not torch.equal(state, torch.get_rng_state()),
        "builds graphs": model.builds_graphs,
    }


@typed(
    "from tests.probes.tables import Tables\n"
    "[generate(Tables(tables), prompt, n, 1.0, torch.Generator().manual_seed(seed)) for n in lengths]"
)
def generate_each(
    assignment: Any, tables: Tensor, prompt: Tensor, lengths: list[int], seed: int, is_global: bool
) -> list[object]:
    """Continue a prompt by each number of tokens in `lengths`, from the same seed each time.

    If `is_global`, torch's global generator is seeded. Otherwise, a seeded generator is passed to the function.
    """
    found = []
    for n in lengths:
        generator = torch.default_generator if is_global else torch.Generator()
        generator.manual_seed(seed)
        more = () if is_global else (generator,)
        found.append(assignment.generate_text.generate(Tables(tables), prompt.clone(), n, 1.0, *more))
    return found
