"""Reference solution for generate_text."""

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from .language_model import LanguageModel


@torch.no_grad()
def generate(
    model: LanguageModel, prompt: Int[Tensor, "T"], n: int, temperature: float, generator: Generator | None = None
) -> Int[Tensor, "T+n"]:
    """Append one token at a time."""
    tokens = prompt
    for _ in range(n):
        logits = model(tokens[None, -model.context :])[0, -1].float()
        if temperature == 0:
            token = logits.argmax()[None]
        else:
            token = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
        tokens = torch.cat([tokens, token])
    return tokens
