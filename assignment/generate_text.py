"""Let your language model write."""

import torch
from jaxtyping import Int
from torch import Generator, Tensor, nn

from .language_model import LanguageModel


def generate(
    model: LanguageModel, prompt: Int[Tensor, "T"], n: int, temperature: float, generator: Generator | None = None
) -> Int[Tensor, "T+n"]:
    """Return the prompt followed by `n` new tokens, each drawn from the model's distribution after the tokens so far.

    The probabilities are `softmax(logits / temperature)`, drawn with `torch.multinomial` and `generator`. With
    temperature 0, take the token with the largest logit.

    Example:
        model = nn.Embedding(4, 4)
        model.context = 8
        model.weight.data = 100 * torch.eye(4).roll(1, dims=1)       # after 0 comes 1, after 3 comes 0
        generate(model, torch.tensor([2]), n=5, temperature=1.0)     # [2, 3, 0, 1, 2, 3]

    Details:
    - The model returns logits (batch, T, vocab) for tokens (batch, T). Pass it the last `model.context` tokens, or all
      of them if there are fewer.
    - The prompt has at least one token, and is not modified. `n` may be 0 or in the thousands.
    - `temperature` is 0 or at least 0.01.
    - Generators with the same seed give the same tokens. If `generator` is None, use torch's global one.
    - Do not build an autograd graph. Return an integer dtype that can hold every token of the vocabulary, on the
      prompt's device.
    """
    raise NotImplementedError
